"""A model that stays loaded: its attention on a typed text, what it answers without heads, and who is not served."""

import http.client
import json
import threading

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from headtypes.analyses.distances.features import head_features
from headtypes.analyses.maps import readable
from headtypes.api.ablation import ablated
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds.question_answering import best_spans
from headtypes.data.tasks import Sample
from headtypes.pages.atlas.live import LOOPBACK, Live, LiveServer
from tests.support.atlases import attention_in
from tests.support.browser import BEYOND_THE_EDGE
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.reading import distance_features
from tests.support.records import classifier, recorded, without_heads

TEXTS = ("who sat by the river?", "The old cat, the young dog. It sat by the river, and ran.")
OFF = ["1-2", "2-5", "3-1"]


def live_of(model, tokenizer, folder, bins: int = 16, **features) -> Live:
    return Live(recorded(model, tokenizer, folder), {}, precision="float32", distance_bins=bins, **features)


def maps_of(read: dict, layers: int, heads: int) -> np.ndarray:
    return attention_in(read["packed"][0], layers, heads, len(read["samples"][0]["tokens"]))


def test_the_page_holds_the_models_attention_on_the_text_and_its_numbers(tmp_path):
    model, tokenizer = tiny_bert()
    data = live_of(model, tokenizer, tmp_path).page(*TEXTS)
    encoded = encode_samples([Sample("", *TEXTS)], tokenizer, "question_answering", 64)
    expected = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])
    (sample,) = data["samples"]
    assert (len(sample["tokens"]), sample["cut"]) == (encoded.lengths[0], False)
    np.testing.assert_allclose(maps_of(data, 3, 5), expected, atol=1 / 500)
    of_text = head_features(distance_features(model, encoded)[0], 16).reshape(-1, 21)
    np.testing.assert_allclose(data["features"]["values"], of_text, atol=1e-3)
    assert data["columns"] == []


@pytest.mark.parametrize("first_token", [True, False])
def test_the_bucket_of_the_first_token_is_called_so(tmp_path, first_token):
    live = live_of(*tiny_language_model("gpt2"), tmp_path, 4, first_token=first_token)
    features = live.read("the cat sat by it", None, [])["features"]
    assert features["labels"][4:] == ["self", "first" if first_token else "cls", "sep", "comma", "period"]
    assert all((values[5] > 0) == first_token for values in features["values"])
    np.testing.assert_allclose(np.sum(features["values"], axis=1), 1, atol=1e-2)


def test_a_long_text_is_cut_and_says_so(tmp_path):
    live = live_of(*tiny_bert(), tmp_path)
    (sample,) = live.read("the cat", "the cat " * 90, [])["samples"]
    assert sample["cut"]
    assert len(sample["tokens"]) == live.record.max_length


def test_without_heads_the_answer_and_the_maps_are_those_of_a_model_that_hears_nothing_of_them(tmp_path):
    model, tokenizer = tiny_bert()
    live = live_of(model, tokenizer, tmp_path)
    whole, now = (live.read(*TEXTS, heads) for heads in ([], OFF))
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
        share = np.exp([start[s] + end[e] for s, e in spans])
        best = best_spans(start[None], end[None], context[None])
        assert spans[share.argmax()] == (best.start[0], best.end[0])
        expected.append(np.sort(share / share.sum())[::-1])
    (answer,) = now["answers"]
    assert answer["title"] == "answer"
    # The likeliest answer of each stands among the candidates, with both probabilities.
    for column in (0, 1):
        assert max(row[1 + column] for row in answer["rows"]) == pytest.approx(expected[column][0], abs=1e-5)
    for likely, (text, *values) in zip(expected[0][:5], whole["answers"][0]["rows"], strict=True):
        assert text in TEXTS[1]
        assert values == pytest.approx([likely] * 2, abs=1e-5)
    np.testing.assert_allclose(
        maps_of(now, 3, 5),
        plain_attentions(without_heads(model, gone), ids[0].tolist(), types[0].tolist()),
        atol=1 / 500,
    )
    assert np.abs(maps_of(now, 3, 5) - maps_of(whole, 3, 5)).max() > 0.01


def test_the_next_token_and_the_loss_are_those_of_an_ablated_model(tmp_path):
    model, tokenizer = tiny_language_model("llama")
    live = live_of(model, tokenizer, tmp_path)
    text = "the old cat sat by the river"
    next_token, loss = live.read(text, None, ["1-2", "2-1"])["answers"]
    read = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        whole = model(**read, labels=read["input_ids"])
        with ablated(model, {"1-2": "zero", "2-1": "zero"}):
            now = model(**read, labels=read["input_ids"])
    assert loss["rows"][0][1:] == pytest.approx([float(whole.loss), float(now.loss)], abs=1e-5)
    likely = np.stack([each.logits[0, -1].softmax(0).numpy() for each in (whole, now)])
    best = sorted({*(-likely[0]).argsort()[:5], *(-likely[1]).argsort()[:5]}, key=lambda it: -likely[0, it])
    assert [row[0] for row in next_token["rows"]] == [readable(tokenizer, int(token)) for token in best]
    np.testing.assert_allclose([row[1:] for row in next_token["rows"]], likely[:, best].T, atol=1e-5)


def test_a_masked_word_and_a_class_have_their_probabilities(tmp_path):
    masked = live_of(*tiny_language_model("bert"), tmp_path / "masked")
    titles = [it["title"] for it in masked.read("the [MASK] sat by [MASK]", None, ["1-1"])["answers"]]
    assert titles == ["[MASK] 1", "[MASK] 2"]
    assert masked.read("the cat", None, [])["answers"] == []
    assert masked.page()["live"]["first"].count("[MASK]") == 1
    (of_class,) = live_of(*classifier(tiny_bert), tmp_path / "class").read("a cat", "a dog", OFF)["answers"]
    assert {row[0] for row in of_class["rows"]} == {"LABEL_0", "LABEL_1"}
    assert np.sum([row[1:] for row in of_class["rows"]], axis=0) == pytest.approx([1, 1])


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    live = live_of(*tiny_bert(), tmp_path_factory.mktemp("served"))
    with LiveServer(live, TEXTS) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def asked(server, body: dict | str | None, path: str | None = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=20)
    method = "GET" if body is None else "POST"
    text = json.dumps(body) if isinstance(body, dict) else body
    connection.request(method, path or f"{server.path}read", text, headers)
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


QUESTION = {"first": TEXTS[0], "second": TEXTS[1], "off": OFF}


def test_only_who_knows_the_path_of_the_server_is_answered(served):
    assert served.server_address[0] == "127.0.0.1"
    status, read = asked(served, QUESTION)
    assert (status, len(json.loads(read)["answers"])) == (200, 1)
    status, read = asked(served, {**QUESTION, "first": " "})
    assert (status, json.loads(read)) == (400, {"error": "The text is empty; write one."})
    for path in ("/", "/read", "/wrong/read"):
        assert [asked(served, body, path)[0] for body in (QUESTION, None)] == [403, 403]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({**QUESTION, "off": ["type"]}, 'off: no head of the model has the type "type".'),
        ({**QUESTION, "off": ["4-1"]}, "off: there is no head 4-1; the model has 3 layers of 5 heads"),
        ({**QUESTION, "off": ["9" * 5000 + "-1"]}, "off: no head of the model has the type"),
        ({**QUESTION, "files": {"types": [["a", "/etc/passwd"]]}}, "files: Extra inputs are not permitted"),
        ({**QUESTION, "off": "3-1"}, "off: Input should be a valid array"),
        ({"second": "a"}, "first: Field required"),
        (r'{"first": "\ud83c"}', "the question: Invalid JSON"),
        ("[" * 100_000, "the question: Invalid JSON"),
    ],
)
def test_a_question_that_no_page_asks_is_refused_and_says_why(served, capsys, body, why):
    status, read = asked(served, body)
    assert status == 400
    assert json.loads(read)["error"].startswith(why)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("length", ["-1", "1e3", "", "1000000", "9" * 5000, "+5", "٣"])
def test_a_length_that_is_none_is_refused_at_once(served, capsys, length):
    status, read = asked(served, "", **{"Content-Length": length.encode()})
    assert (status, "Content-Length is" in json.loads(read)["error"]) == (400, True)
    assert capsys.readouterr().err == ""


def test_a_question_that_does_not_come_whole_holds_no_thread_and_prints_nothing(served, monkeypatch, capsys):
    monkeypatch.setattr(served.RequestHandlerClass, "timeout", 0.2)
    assert asked(served, "{", **{"Content-Length": "50"}) == (400, '{"error": "timed out"}')
    assert capsys.readouterr().err == ""


def test_pages_from_elsewhere_and_other_names_of_this_machine_are_refused(served):
    own = f"{LOOPBACK}:{served.server_port}"
    for headers in ({"Host": "rebound.example"}, {"Origin": "http://elsewhere.example"}, {"Origin": "null"}):
        assert [asked(served, body, served.path, **headers)[0] for body in (None, QUESTION)] == [403, 403]
    for headers in ({"Origin": f"http://{own}"}, {"Host": "localhost:9", "Origin": "http://localhost:9"}):
        assert asked(served, QUESTION, **headers)[0] == 200


def test_what_fails_inside_is_told_and_the_next_question_answered(served, monkeypatch, capsys):
    monkeypatch.setattr(served.live, "read", lambda **_: 1 / 0)
    status, read = asked(served, QUESTION)
    assert (status, json.loads(read)) == (500, {"error": "The model failed on this; its terminal says how."})
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.undo()
    assert asked(served, QUESTION)[0] == 200


@pytest.fixture
def page_file(served):
    return served.address


def said(page, off: int) -> list[list[str]]:
    page.locator("#says:not([aria-busy]) thead", has_text=f"without {off}" if off else "answer").wait_for()
    return [row.split("\t") for row in page.locator("#says tbody tr").all_inner_texts()]


def shown(rows: list) -> list[str]:
    return [(name, f"{100 * now:.{0 if now >= 0.0995 else 1}f} %") for name, _, now in rows]


def read_in_turn(served, *asked) -> dict:
    """What `Live` replies; the page may be asking the same model, which reads one text at a time."""
    with served.turn:
        return served.live.read(*asked)


def test_clicks_switch_heads_off_and_change_the_answer_and_the_maps(page, served):
    """Beside the reply of `Live`, which is held to a dense model above."""
    answers = {off: read_in_turn(served, *TEXTS, [off] if off else [])["answers"][0]["rows"] for off in ("", "3-1")}
    assert page.locator("#second").input_value() == TEXTS[1]
    assert [(row[0], row[-1]) for row in said(page, 0)] == shown(answers[""])
    page.locator(".tile").nth(10).click()
    assert [(row[0], row[-1]) for row in said(page, 1)] == shown(answers["3-1"])
    assert answers[""] != answers["3-1"]
    page.evaluate("location.hash = 'off=1-2 2-2&head=3-4&map=matrix&word=from-2-3'")
    said(page, 2)
    read = read_in_turn(served, *TEXTS, ["1-2", "2-2"])
    value = 100 * maps_of(read, 3, 5)[2, 3, 1, 2]
    page.locator(".said", has_text=f"{value:.{0 if value >= 9.95 else 1}f} %").wait_for()
    assert [(row[0], row[-1]) for row in said(page, 2)] == shown(read["answers"][0]["rows"])
    assert page.locator("#tiles .off").count() == 2


def test_on_a_phone_boxes_lie_apart_and_a_tap_says_what_it_does(phone, served):
    answers = {off: read_in_turn(served, *TEXTS, off)["answers"][0]["rows"] for off in ((), ("3-1",))}
    whole, now = (max(answers[off], key=lambda row: row[2])[0] for off in answers)
    phone.locator("#says table").wait_for()
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    first, second = (phone.locator(name).bounding_box() for name in ("#first", "#second"))
    assert first["y"] + first["height"] < second["y"]
    phone.locator(".tile").nth(10).tap()
    said(phone, 1)
    expect(phone.locator("#without")).to_contain_text(
        "Without 1 of 15 heads: " + (f"“{now}” as before" if whole == now else f"“{now}” in place of “{whole}”")
    )
    box = phone.locator("#without").bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] <= 900
    assert phone.evaluate(BEYOND_THE_EDGE.replace('"main, main *, ', '"#says, #says *, ')) == []


def test_another_text_is_read_when_it_is_asked_for(page, served):
    assert page.locator("#says table").count() == 1
    page.locator("#first").fill("who ran?")
    assert page.locator("#says").inner_text() == ""
    page.get_by_role("button", name="Read it").click()
    page.locator("#says:not([aria-busy]) table").wait_for()
    page.evaluate("location.hash = 'head=1-1'")
    tokens = read_in_turn(served, "who ran?", TEXTS[1], [])["samples"][0]["tokens"]
    page.locator(".from .word").nth(len(tokens) - 1).wait_for()
    assert page.locator(".from .word .text").all_inner_texts() == tokens
