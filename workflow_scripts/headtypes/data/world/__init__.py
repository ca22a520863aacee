"""A generated world: fictional people, places, works and events, told in plain English, and tasks that follow from it.

`inventory` has the words, `entities` the names, `relations` what can be true, `grammar` sentences as trees,
`telling` facts as sentences, `passages` the articles, `questions` and `pairs` what is asked of them, `annotation`
their trees and mentions, `tasks` the data sets.
"""
