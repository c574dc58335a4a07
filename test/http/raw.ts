import { connect } from "node:net"

/** A response as received from the socket. */
export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** Once one response has arrived, wait only this long for the next. */
const SILENCE_MS = 30

/**
 * Sends raw bytes that no client library would send, and collects the responses until the server closes the connection or stays
 * silent. Without any response, gives up after `patience` milliseconds.
 */
export function sendRaw(port: number, bytes: string | Uint8Array, patience = 2_000): Promise<RawAnswer[]> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
    const chunks: Buffer[] = []
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parseAnswers(Buffer.concat(chunks).toString("latin1")))
    }
    let timer = setTimeout(finish, patience)
    socket.on("data", (chunk) => {
      chunks.push(Buffer.from(chunk))
      clearTimeout(timer)
      timer = setTimeout(finish, SILENCE_MS)
    })
    socket.on("close", finish)
    // A reset ends the exchange like a normal close.
    socket.on("error", () => {})
  })
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest.startsWith("HTTP/1.1 ")) {
    const end = rest.indexOf("\r\n\r\n")
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n")
    const headers = Object.fromEntries(lines.map((line) => [line.split(":")[0]!.toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]))
    const length = Number(headers["content-length"] ?? 0)
    answers.push({ status: Number(first.split(" ")[1]), headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}
