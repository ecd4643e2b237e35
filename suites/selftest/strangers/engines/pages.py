"""The KV cache of the engines: pages with users, and a tree of what the full ones hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NOTHING = (0, -1)  # what a place holds that nobody has written


class Node:
    """A full page in the tree. The path to it is the beginning of a text."""

    def __init__(self, parent: Node | None, key: Any = None, page: int = -1) -> None:
        self.parent, self.key, self.page = parent, key, page
        self.children: dict[Any, Node] = {}
        self.used = 0


class Pool:
    """Pages; the free ones are a stack. Full pages that nobody uses stay in the tree until their place is needed."""

    def __init__(self, count: int, size: int, remembers: bool) -> None:
        self.count, self.size, self.remembers = count, size, remembers
        self.free = list(range(count))
        self.users = [0] * count
        self.root = Node(None)
        self.nodes: dict[int, Node] = {}
        self.time = 0

    def pages_of(self, tokens: int) -> int:
        """Return how many pages so many tokens need."""
        return -(-tokens // self.size)

    def available(self) -> int:
        """Return how many pages can be taken."""
        return len(self.free) + sum(not self.users[page] for page in self.nodes)

    def take(self) -> int:
        """Take a page, if need be the oldest leaf of the tree that nobody uses."""
        page = self.free.pop() if self.free else self.forget()
        self.users[page] = 1
        return page

    def forget(self) -> int:
        """Remove a leaf from the tree."""
        node = min((node for node in self.nodes.values() if self.can_go(node)), key=lambda node: node.used)
        assert node.parent
        del node.parent.children[node.key], self.nodes[node.page]
        return node.page

    def can_go(self, node: Node) -> bool:
        """Return whether a page may leave the tree."""
        return not node.children and not self.users[node.page]

    def hold(self, pages: Sequence[int]) -> None:
        """Use pages that the tree knows."""
        for page in pages:
            self.users[page] += 1

    def drop(self, pages: Sequence[int]) -> None:
        """Use pages no more."""
        self.time += 1
        for page in reversed(pages):
            self.users[page] -= 1
            if page in self.nodes:
                self.nodes[page].used = self.time
            elif not self.users[page]:
                self.free.append(page)

    def key(self, tokens: Sequence[int]) -> Any:
        """Return how the tree knows a page below its parent."""
        return tuple(tokens)

    def below(self, node: Node) -> Node:
        """Return the node that has the page after this one."""
        return node

    def match(self, tokens: Sequence[int]) -> list[int]:
        """Return the pages that hold the beginning of a text; at least its last token is not in them."""
        found: list[int] = []
        node = self.root
        for start in range(0, self.most(len(tokens)) * self.size if self.remembers else 0, self.size):
            child = self.below(node).children.get(self.key(tokens[start : start + self.size]))
            if not child:
                break
            found.append(child.page)
            node = child
        return found

    def most(self, tokens: int) -> int:
        """Return how many pages of a text may come from the tree."""
        return (tokens - 1) // self.size

    def learn(self, tokens: Sequence[int], pages: Sequence[int], done: int) -> None:
        """Put the full pages of a text into the tree, as far as it goes on from what is there."""
        node = self.root
        for number in range(done // self.size if self.remembers else 0):
            key = self.key(tokens[number * self.size : (number + 1) * self.size])
            parent = self.below(node)
            child = parent.children.get(key)
            if child is None:
                if pages[number] in self.nodes:
                    return
                child = parent.children[key] = self.nodes[pages[number]] = Node(parent, key, pages[number])
            elif child.page != pages[number]:
                return
            node = child


class Memory:
    """What the pages hold: (token, place) for each entry."""

    def __init__(self, count: int, size: int) -> None:
        self.size = size
        self.pages = [[NOTHING] * size for _ in range(count)]

    def write(self, table: Sequence[int], start: int, tokens: Sequence[int]) -> None:
        """Write tokens from a place on."""
        for place, token in enumerate(tokens, start):
            self.pages[table[place // self.size]][place % self.size] = (token, place)

    def read(self, table: Sequence[int], end: int) -> list[tuple[int, int]]:
        """Read all entries up to a place."""
        return [self.pages[table[place // self.size]][place % self.size] for place in range(end)]

    def save(self, table: Sequence[int]) -> list[list[tuple[int, int]]]:
        """Copy pages out."""
        return [list(self.pages[page]) for page in table]

    def load(self, table: Sequence[int], saved: Sequence[list[tuple[int, int]]]) -> None:
        """Copy pages in."""
        for page, entries in zip(table, saved, strict=True):
            self.pages[page] = list(entries)
