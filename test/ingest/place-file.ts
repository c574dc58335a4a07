/**
 * Builds a MaxMind DB file (format 2.0) that contains the given IPv4 addresses: a binary tree of 24-bit records over the bits
 * of an address, the data section it points to, and the metadata.
 */
export function placeFileBytes(entries: Record<string, Record<string, unknown>>): Uint8Array {
  const data: number[] = []
  const tree: (number | undefined)[][] = [[undefined, undefined]]
  const leaves: [node: number, bit: number, offset: number][] = []
  for (const [address, entry] of Object.entries(entries)) {
    const bits = address.split(".").flatMap((part) => [...Number(part).toString(2).padStart(8, "0")].map(Number))
    let node = 0
    for (const bit of bits.slice(0, -1)) node = tree[node]![bit] ??= tree.push([undefined, undefined]) - 1
    leaves.push([node, bits.at(-1)!, data.length])
    data.push(...encode(entry))
  }
  for (const [node, bit, offset] of leaves) tree[node]![bit] = tree.length + 16 + offset
  const records = tree.flatMap((pair) => pair.flatMap((to = tree.length) => [to >> 16, (to >> 8) & 255, to & 255]))
  const metadata = encode({
    node_count: tree.length,
    record_size: 24,
    ip_version: 4,
    database_type: "Test",
    languages: ["en"],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    description: { en: "Test" },
  })
  const marker = [0xab, 0xcd, 0xef, ...new TextEncoder().encode("MaxMind.com")]
  return Uint8Array.from([...records, ...Array(16).fill(0), ...data, ...marker, ...metadata])
}

function encode(value: unknown): number[] {
  if (typeof value === "string") return [...head(2, value.length), ...new TextEncoder().encode(value)]
  if (typeof value === "number") return [...head(6, 4), value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]
  if (Array.isArray(value)) return [...head(11, value.length), ...value.flatMap(encode)]
  const pairs = Object.entries(value as Record<string, unknown>) // only objects remain
  return [...head(7, pairs.length), ...pairs.flatMap(([key, each]) => [...encode(key), ...encode(each)])]
}

const head = (type: number, size: number): number[] => (type <= 7 ? [(type << 5) | size] : [size, type - 7])
