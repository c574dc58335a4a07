/** A name server on loopback that knows texts, each in the pieces in which it is sent. What is put into `records` later it knows too. */
export async function nameServer(records: Record<string, string[][]>) {
  const socket = await Bun.udpSocket({
    port: 0,
    hostname: "127.0.0.1",
    socket: { data: (socket, question, port, address) => void socket.send(answerTo(new Uint8Array(question), records), port, address) },
  })
  return { address: `127.0.0.1:${socket.port}`, [Symbol.dispose]: () => socket.close() }
}

function answerTo(question: Uint8Array, records: Record<string, string[][]>): Uint8Array {
  const labels: string[] = []
  let at = 12
  for (; question[at] !== 0; at += question[at]! + 1)
    labels.push(new TextDecoder().decode(question.subarray(at + 1, at + 1 + question[at]!)))
  const asked = question.subarray(12, at + 5)
  const texts = records[labels.join(".")]
  const flags = texts ? [0x81, 0x80] : [0x81, 0x83]
  const answers = (texts ?? []).flatMap((pieces) => {
    const data = pieces.flatMap((piece) => [piece.length, ...new TextEncoder().encode(piece)])
    return [0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255, ...data]
  })
  return Uint8Array.from([...question.subarray(0, 2), ...flags, 0, 1, 0, texts?.length ?? 0, 0, 0, 0, 0, ...asked, ...answers])
}
