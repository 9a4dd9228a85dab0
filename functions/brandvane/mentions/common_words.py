"""Which English brand names are everyday words too? In lower case they are taken for the word unless the catalogue says otherwise.

A short list of words that companies, shops and products of note are named after; a brand that is not in it says
``case_sensitive`` in its rules.
"""

from __future__ import annotations

_WORDS = """
accord alibi alliance ally amazon anchor apex apple arc arm arrow ascent aspire atom audible aurora avalanche axe band basic
beacon bear beats bend best bird bit blackberry block bloom blue bold bolt boost bounce box brave brick bridge bright brother bubble bull
cadence canon canopy cape caterpillar champion charm chase chrome circle clear clever clutch coach coast comet compass concept cook copper
craft crest cross crown curve cursor dash dawn deer delta depot dial diamond direct discover dodge dot dove dragon drift drum duel
eagle earth echo edge element ember energizer envoy epic epiphany equinox escape essential ever express falcon fiesta figure final fire
first fisher five flash flex flow focus force forge fossil fox frame freedom front frontier fusion galaxy gap garage gem general genesis
giant glade glow gold grand grid grove guess guide gulf harmony harvest haven hello hero hinge hive hollow honor horizon hub hunter icon
impact impossible indigo infinity insider instant iris iron ivory jaguar jet joy jump jungle just keen key kind kite knight lab ladder
lamb lance lane lark latitude laurel leaf legend lemonade level liberty light lime linear link lion live loom lotus lucid luna lush mammoth
marathon mark mars match matter maverick medium merge mercury meta metro mini mint mirage mirror mobile moment monday monster moss motion
mountain move mustang native nest next nimble nova notion oasis oath ocean octopus olympus omega one opal open opera optimum oracle orange
orbit origin otter outlook oxygen panther patriot patron peak pearl pebble pepper pilot pinnacle pioneer pixel planet plaid platinum plum
polar post prime prism profile progressive progress puma quest quick rally ram ranger raven ray razor reach reason rebel red
reserve ring ripple rise rival river rocket rogue roots rover royal ruby safari sage samurai saturn scout seal sequel shark
shell shield shift signal silk simple sketch skull sky slack slate slice smart snap snow social solid sonic spark spirit split spring
sprint square squid stack staples star steam stripe strive subway summit sun sunrise super surface surge swallow swatch swift switch table
tablet tandem target tattoo teams tempo threads three tide tiger timber tinder titan tonic toro total touch trace trek triumph true
trust twist uber ultra united unity uniform valve vanguard vault venture verge vertex viking virgin visa vision vista vital vivid
volt walnut wave wealth wing wise wish wonder word workday world yelp you zen zest zip zoom
"""
COMMON = frozenset(_WORDS.split())
