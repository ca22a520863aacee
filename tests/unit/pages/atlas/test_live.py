"""A model that stays loaded: heads switched off by clicks, what it answers, and who is not served."""

import base64
import gzip
import http.client
import json
import socket
import threading
import time

import numpy as np
import pytest
import torch

from headtypes.analyses.maps.measure import readable
from headtypes.api.ablation import ablated
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds.question_answering.answers import best_spans
from headtypes.data.records import Sample
from headtypes.pages.atlas import live_server
from headtypes.pages.atlas.live import OFFERED, Live
from headtypes.pages.atlas.live_server import LARGEST, LOOPBACK, LiveServer
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.records import classifier, recorded, without_heads

TEXTS = ("who sat by the river?", "The old cat, the young dog. It sat by the river, and ran.")
OFF = ["1-2", "2-5", "3-1"]


def live_of(model, tokenizer, folder) -> Live:
    return Live(recorded(model, tokenizer, folder), {}, precision="float32", distance_bins=16)


def maps_of(read: dict, layers: int, heads: int) -> np.ndarray:
    """The maps of a reply: [layer, head, query, key]."""
    numbers, length = gzip.decompress(base64.b64decode(read["packed"][0])), len(read["samples"][0]["tokens"])
    rows = layers * heads * length
    scale = np.frombuffer(numbers, "<u2", rows)[:, None] / 65535
    levels = np.frombuffer(numbers, np.uint8, offset=2 * rows).reshape(rows, length) / 255
    return (scale * levels).reshape(layers, heads, length, length)


def test_without_heads_the_answer_and_the_maps_are_those_of_a_model_that_hears_nothing_of_them(tmp_path):
    model, tokenizer = tiny_bert()
    live = live_of(model, tokenizer, tmp_path)
    whole, now = (live.read(*TEXTS, "zero", heads) for heads in ([], OFF))
    encoded = encode_samples([Sample("", *TEXTS)], tokenizer, "question_answering", 64)
    ids, types = (torch.tensor(rows) for rows in (encoded.input_ids, encoded.token_types))
    gone = np.zeros((3, 5), bool)
    gone[[0, 1, 2], [1, 4, 0]] = True
    expected, context = [], (types[0] == 1).numpy() & (ids[0] != tokenizer.sep_token_id).numpy()
    for dense in (model, without_heads(model, gone)):
        with torch.inference_mode():
            output = dense(input_ids=ids, token_type_ids=types)
        start, end = (logits[0].double().numpy() for logits in (output.start_logits, output.end_logits))
        spans = [
            (s, e) for s in range(len(start)) for e in range(s, min(s + 30, len(end))) if context[s] and context[e]
        ]
        scores = np.array([start[s] + end[e] for s, e in spans])
        share = np.exp(scores - scores.max())
        best = best_spans(start[None], end[None], context[None])
        assert spans[scores.argmax()] == (best.start[0], best.end[0])
        expected.append(dict(zip(spans, share / share.sum(), strict=True)))
    (answer,) = now["answers"]
    assert answer["title"] == "answer"
    # The likeliest answer of each stands among the candidates, with both probabilities.
    for column in (0, 1):
        likeliest = max(row[1 + column] for row in answer["rows"])
        assert likeliest == pytest.approx(max(expected[column].values()), abs=1e-5)
    by_whole = sorted(expected[0], key=expected[0].get, reverse=True)[:5]
    for span, (text, *values) in zip(by_whole, whole["answers"][0]["rows"], strict=True):
        assert text in TEXTS[1]
        assert values == pytest.approx([expected[0][span]] * 2, abs=1e-5)
    np.testing.assert_allclose(
        maps_of(now, 3, 5),
        plain_attentions(without_heads(model, gone), ids[0].tolist(), types[0].tolist()),
        atol=1 / 500,
    )
    assert np.abs(maps_of(now, 3, 5) - maps_of(whole, 3, 5)).max() > 0.01


@pytest.mark.parametrize("operation", OFFERED)
def test_the_next_token_and_the_loss_are_those_of_an_ablated_model(tmp_path, operation):
    model, tokenizer = tiny_language_model("llama")
    live = live_of(model, tokenizer, tmp_path)
    text = "the old cat sat by the river"
    next_token, loss = live.read(text, None, operation, ["1-2", "2-1"])["answers"]
    read = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        whole = model(**read, labels=read["input_ids"])
        with ablated(model, {"1-2": operation, "2-1": operation}):
            now = model(**read, labels=read["input_ids"])
    assert loss["rows"][0][1:] == pytest.approx([float(whole.loss), float(now.loss)], abs=1e-5)
    likely = np.stack([each.logits[0, -1].softmax(0).numpy() for each in (whole, now)])
    best = sorted({*(-likely[0]).argsort()[:5], *(-likely[1]).argsort()[:5]}, key=lambda it: -likely[0, it])
    assert [row[0] for row in next_token["rows"]] == [readable(tokenizer, int(token)) for token in best]
    np.testing.assert_allclose([row[1:] for row in next_token["rows"]], likely[:, best].T, atol=1e-5)


def test_a_masked_word_and_a_class_have_their_probabilities(tmp_path):
    masked = live_of(*tiny_language_model("bert"), tmp_path / "masked")
    titles = [it["title"] for it in masked.read("the [MASK] sat by [MASK]", None, "zero", ["1-1"])["answers"]]
    assert titles == ["[MASK] 1", "[MASK] 2"]
    assert masked.read("the cat", None, "zero", [])["answers"] == []
    assert masked.example[0].count("[MASK]") == 1
    (of_class,) = live_of(*classifier(tiny_bert), tmp_path / "class").read("a cat", "a dog", "zero", OFF)["answers"]
    assert {row[0] for row in of_class["rows"]} == {"LABEL_0", "LABEL_1"}
    assert np.sum([row[1:] for row in of_class["rows"]], axis=0) == pytest.approx([1, 1])


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    live = live_of(*tiny_bert(), tmp_path_factory.mktemp("served"))
    with LiveServer(live, TEXTS) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def asked(server, body: bytes | dict, method: str = "POST", path: str | None = None, **headers: str):
    """Status and JSON of a request, which looks like one of the page but for what is given."""
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=20)
    own = {"Host": server.hosts[0], "Origin": f"http://{server.hosts[0]}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    connection.request(method, path or f"/{server.word}/read", data, {**own, **headers})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def question(**more) -> dict:
    return {"first": TEXTS[0], "second": TEXTS[1], "heads": OFF, **more}


def test_the_page_of_the_server_is_answered(served):
    status, read = asked(served, question())
    assert (status, len(read["answers"])) == (200, 1)
    assert served.server_address[0] == "127.0.0.1"
    assert asked(served, question(), Host=served.hosts[1], Origin=f"http://{served.hosts[1]}")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status", "why"),
    [
        ({"Origin": "http://elsewhere.example"}, 403, "Pages from elsewhere are not served."),
        ({"Origin": "null"}, 403, "Pages from elsewhere"),
        ({"Origin": f"http://{LOOPBACK}:1"}, 403, "Pages from elsewhere"),
        ({"Host": "elsewhere.example"}, 403, "Only 127.0.0.1 and localhost are served"),
        ({"Host": LOOPBACK}, 403, "Only 127.0.0.1 and localhost are served"),
        ({"path": "/read"}, 404, "There is nothing here"),
        ({"path": "/wrong/read"}, 404, "There is nothing here"),
        # What a form of another page can send without asking.
        ({"Content-Type": "text/plain"}, 415, "A question is JSON."),
    ],
)
def test_whoever_is_not_the_page_of_the_server_is_refused(served, headers, status, why):
    found, read = asked(served, question(), **headers)
    assert found == status
    assert read["error"].startswith(why)


def test_a_page_from_elsewhere_gets_no_page_either_and_may_not_ask_first(served):
    connection = http.client.HTTPConnection(LOOPBACK, served.server_port, timeout=20)
    connection.request("GET", f"/{served.word}/", headers={"Host": f"elsewhere.example:{served.server_port}"})
    assert connection.getresponse().status == 403
    connection = http.client.HTTPConnection(LOOPBACK, served.server_port, timeout=20)
    connection.request("OPTIONS", f"/{served.word}/read", headers={"Origin": "http://elsewhere.example"})
    reply = connection.getresponse()
    assert reply.status == 501
    assert not [name for name, _ in reply.getheaders() if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (b"x" * (LARGEST + 1), 413, "The text is too long: 20,000 bytes are read at most; shorten it."),
        (b"x" * 5_000_000, 413, "The text is too long"),
        (b'{"first": ', 400, "This is no question: Invalid JSON"),
        (b"\xff\xfe", 400, "This is no question: Invalid JSON"),
        (b'{"first": "\\ud800"}', 400, "This is no question: Invalid JSON"),
        (b"[]", 400, "This is no question: Input should be an object."),
        ({"second": "no first"}, 400, "This is no question: first: Field required."),
        (question(heads=["1-1", 7]), 400, "This is no question: heads.1: Input should be a valid string."),
        (question(first=" \n"), 400, "The text is empty; write one."),
        (question(heads=["4-1"]), 400, "There is no head 4-1; the model has 3 layers of 5 heads"),
        (question(operation="mean"), 400, "There is no operation mean here; there are zero, uniform."),
    ],
)
def test_what_is_no_question_is_refused_with_a_sentence(served, body, status, why):
    found, read = asked(served, body)
    assert found == status
    assert read["error"].startswith(why)
    assert asked(served, question())[0] == 200


def test_one_that_says_no_length_or_a_wrong_one_is_refused_and_keeps_nobody_waiting(served, monkeypatch):
    monkeypatch.setattr(live_server._Handler, "timeout", 0.5)
    head = f"POST /{served.word}/read HTTP/1.1\r\nHost: {served.hosts[0]}\r\nContent-Type: application/json\r\n"
    for rest, reply in (("\r\n", b"411"), ("Content-Length: -1\r\n\r\n", b"411"), ("Content-Length: 99\r\n\r\n{", b"")):
        with socket.create_connection((LOOPBACK, served.server_port), timeout=20) as silent:
            silent.sendall((head + rest).encode())
            assert asked(served, question())[0] == 200
            assert reply in silent.recv(1000)


def test_questions_at_once_are_answered_one_after_the_other(served, monkeypatch):
    at_once, most, plain = [], [], served.live.read

    def read(*arguments):
        at_once.append(1)
        most.append(len(at_once))
        time.sleep(0.05)
        found = plain(*arguments)
        at_once.pop()
        return found

    monkeypatch.setattr(served.live, "read", read)
    asks = [question(heads=heads) for heads in ([], OFF, ["1-1"], OFF)]
    found: dict[int, tuple] = {}
    threads = [
        threading.Thread(target=lambda number=number: found.update({number: asked(served, asks[number])}))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == [1, 1, 1, 1]
    assert {status for status, _ in found.values()} == {200}
    assert found[1][1] == found[3][1] != found[0][1]


def test_one_that_would_wait_too_long_is_told_so(served, monkeypatch):
    monkeypatch.setattr(live_server, "WAITING", 0.1)
    with served.turn:
        assert asked(served, question()) == (503, {"error": "The model is busy; ask again."})


def test_what_fails_inside_is_told_and_the_next_question_answered(served, monkeypatch, capsys):
    monkeypatch.setattr(served.live, "read", lambda *_: 1 / 0)
    assert asked(served, question()) == (500, {"error": "The model failed on this; its terminal says how."})
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.undo()
    assert asked(served, question())[0] == 200


@pytest.fixture
def page(chromium, served):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    elsewhere, errors = [], []
    opened.on("request", lambda request: elsewhere.append(request.url))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(served.address)
    yield opened
    assert [url for url in elsewhere if not url.startswith(served.address)] == []
    assert errors == []
    context.close()


def said(page, off: int) -> list[list[str]]:
    """The rows of the answer without so many heads, once the model has answered."""
    page.locator("#says:not([aria-busy]) thead", has_text=f"without {off}" if off else "answer").wait_for()
    return [row.split("\t") for row in page.locator("#says tbody tr").all_inner_texts()]


def shown(rows: list) -> list[str]:
    """The names of candidates and their percents without heads, as the page rounds them."""
    return [(name, f"{100 * now:.{0 if now >= 0.0995 else 1}f} %") for name, _, now in rows]


def read_in_turn(served, *asked) -> dict:
    """What `Live` replies; the page may be asking the same model, which reads one text at a time."""
    with served.turn:
        return served.live.read(*asked)


def test_clicks_switch_heads_off_and_change_the_answer_and_the_maps(page, served):
    """Beside the reply of `Live`, which is held to a dense model above."""
    answers = {
        off: read_in_turn(served, *TEXTS, "zero", [off] if off else [])["answers"][0]["rows"] for off in ("", "3-1")
    }
    assert page.locator("#second").input_value() == TEXTS[1]
    assert [(row[0], row[-1]) for row in said(page, 0)] == shown(answers[""])
    page.locator(".tile").nth(10).click()
    assert [(row[0], row[-1]) for row in said(page, 1)] == shown(answers["3-1"])
    assert answers[""] != answers["3-1"]
    # The address holds what is off; a further head is put off, by another operation, and its map opened.
    page.evaluate("location.hash = 'off=1-2 2-2&head=3-4&map=matrix&word=from-2-3'")
    said(page, 2)
    page.select_option("#operation", "uniform")
    read = read_in_turn(served, *TEXTS, "uniform", ["1-2", "2-2"])
    value = 100 * maps_of(read, 3, 5)[2, 3, 1, 2]
    page.locator(".said", has_text=f"{value:.{0 if value >= 9.95 else 1}f} %").wait_for()
    assert [(row[0], row[-1]) for row in said(page, 2)] == shown(read["answers"][0]["rows"])
    assert page.locator("#tiles .off").count() == 2


def test_another_text_is_read_when_it_is_asked_for(page, served):
    page.locator("#first").fill("who ran?")
    page.get_by_role("button", name="Read it").click()
    page.locator("#says:not([aria-busy])").wait_for()
    page.evaluate("location.hash = 'head=1-1'")
    tokens = read_in_turn(served, "who ran?", TEXTS[1], "zero", [])["samples"][0]["tokens"]
    page.locator(".from .word").nth(len(tokens) - 1).wait_for()
    assert page.locator(".from .word .text").all_inner_texts() == tokens


def test_a_refusal_stands_on_the_page(chromium, served):
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto(served.address)
    opened.fill("#first", " ")
    opened.get_by_role("button", name="Read it").click()
    opened.wait_for_selector("#says .refused")
    assert opened.locator("#says").inner_text() == "The text is empty; write one."
    context.close()


def test_the_answer_is_seen_above_an_opened_head_on_a_phone(page, served):
    page.set_viewport_size({"width": 390, "height": 844})
    in_panel = "document.getElementById('opened').contains(document.getElementById('says'))"
    page.get_by_role("button", name="What if").click()
    page.locator("#tiles [role=gridcell]").first.click()
    page.locator("#opened h2").wait_for()
    box = page.locator("#says").bounding_box()
    assert page.evaluate(in_panel)
    assert box["y"] < page.locator("#opened h2").bounding_box()["y"]
    at = f"document.elementFromPoint({box['x'] + box['width'] / 2}, {box['y'] + box['height'] / 2})"
    assert page.evaluate(f"Boolean({at}.closest('#says'))")
    page.get_by_role("button", name="Close").click()
    assert not page.evaluate(in_panel)
    assert page.locator("#says").is_visible()
    page.locator("#tiles [role=gridcell]").first.click()
    page.set_viewport_size({"width": 1280, "height": 844})
    page.locator("#opened #says").wait_for(state="detached")
    assert page.locator("#says").is_visible()


def test_a_page_from_elsewhere_that_knows_the_address_reads_nothing(chromium, served, tmp_path):
    """A file of the same machine, and a host name that leads to the loopback address."""
    (tmp_path / "attack.html").write_text("<!doctype html><title>elsewhere</title>")
    context = chromium.new_context()
    attacker = context.new_page()
    attacker.goto((tmp_path / "attack.html").as_uri())
    for kind in ("application/json", "text/plain"):
        ask = f"""fetch("{served.address}read", {{method: "POST", headers: {{"Content-Type": "{kind}"}},
            body: '{{"first": "the cat"}}'}}).then((it) => it.text(), (error) => error.name)"""
        assert attacker.evaluate(ask) == "TypeError"
    context.close()
