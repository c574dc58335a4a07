import ipaddr from "ipaddr.js"

/** The IP addresses of a name, per look-up: the first list answers the first look-up, and the last one all further look-ups. */
export type SuccessiveAddresses = readonly (readonly string[])[]

/**
 * Starts a DNS server on loopback with TXT records, each a list of its strings, and with addresses that can change between look-ups. Later
 * additions to both take effect. `asked` are the names and types in the order of the queries.
 */
export async function nameServer(records: Record<string, string[][]>, addresses: Record<string, SuccessiveAddresses> = {}) {
  const asked: string[] = []
  const answer = (query: Uint8Array): Uint8Array => answerTo(query, { records, addresses, asked })
  const socket = await Bun.udpSocket({
    port: 0,
    hostname: "127.0.0.1",
    socket: { data: (socket, query, port, address) => void socket.send(answer(new Uint8Array(query)), port, address) },
  })
  return { address: `127.0.0.1:${socket.port}`, asked, [Symbol.dispose]: () => socket.close() }
}

interface Zone {
  records: Record<string, string[][]>
  addresses: Record<string, SuccessiveAddresses>
  asked: string[]
}

const TYPES: Readonly<Record<number, string>> = { 1: "A", 16: "TXT", 28: "AAAA" }

function answerTo(query: Uint8Array, zone: Zone): Uint8Array {
  const labels: string[] = []
  let at = 12
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(new TextDecoder().decode(query.subarray(at + 1, at + 1 + query[at]!)))
  const question = query.subarray(12, at + 5)
  const type = query[at + 2]!
  const answers = dataOf(labels.join("."), TYPES[type] ?? "", zone)
  const flags = answers ? [0x81, 0x80] : [0x81, 0x83]
  const rows = (answers ?? []).flatMap((data) => [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255, ...data])
  return Uint8Array.from([...query.subarray(0, 2), ...flags, 0, 1, 0, answers?.length ?? 0, 0, 0, 0, 0, ...question, ...rows])
}

function dataOf(name: string, type: string, { records, addresses, asked }: Zone): number[][] | undefined {
  const earlier = asked.filter((each) => each === `${name} ${type}`).length
  asked.push(`${name} ${type}`)
  if (type === "TXT") return records[name]?.map((pieces) => pieces.flatMap((piece) => [piece.length, ...new TextEncoder().encode(piece)]))
  const lists = addresses[name]
  const now = lists?.[Math.min(earlier, lists.length - 1)]
  const isSix = type === "AAAA"
  return now?.filter((address) => address.includes(":") === isSix).map((address) => ipaddr.parse(address).toByteArray())
}
