def encode_words(tokenizer, words):
    e=tokenizer(list(words), is_split_into_words=True, truncation=False, padding=False)
    return e["input_ids"], [-1 if w is None else w for w in e.word_ids()]
