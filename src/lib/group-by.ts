/** Groups a list by a key, in order of first appearance. No group is empty. */
type NonEmpty<Item> = [Item, ...Item[]]

export function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, NonEmpty<Item>> {
  const groups = new Map<Key, NonEmpty<Item>>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
