/** Starts a DNS server on loopback with TXT records, each a list of its strings. Later additions to `records` take effect. */
export async function nameServer(records: Record<string, string[][]>) {
  const socket = await Bun.udpSocket({
    port: 0,
    hostname: "127.0.0.1",
    socket: { data: (socket, query, port, address) => void socket.send(answerTo(new Uint8Array(query), records), port, address) },
  })
  return { address: `127.0.0.1:${socket.port}`, [Symbol.dispose]: () => socket.close() }
}

function answerTo(query: Uint8Array, records: Record<string, string[][]>): Uint8Array {
  const labels: string[] = []
  let at = 12
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(new TextDecoder().decode(query.subarray(at + 1, at + 1 + query[at]!)))
  const asked = query.subarray(12, at + 5)
  const texts = records[labels.join(".")]
  const flags = texts ? [0x81, 0x80] : [0x81, 0x83]
  const answers = (texts ?? []).flatMap((pieces) => {
    const data = pieces.flatMap((piece) => [piece.length, ...new TextEncoder().encode(piece)])
    return [0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255, ...data]
  })
  return Uint8Array.from([...query.subarray(0, 2), ...flags, 0, 1, 0, texts?.length ?? 0, 0, 0, 0, 0, ...asked, ...answers])
}
