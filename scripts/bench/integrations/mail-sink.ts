/** A mail server on a thread of its own that accepts everything and keeps nothing. */
import { createServer, type Socket } from "node:net"

/** The port, once; then the number of accepted emails, each time it changes. */
export type MailSinkMessage = { port: number } | { port?: undefined; accepted: number }

const tell = (message: MailSinkMessage): void => self.postMessage(message)
let accepted = 0

const server = createServer((socket: Socket) => {
  let [waiting, isData] = ["", false]
  const take = (line: string): string | undefined => {
    if (isData) {
      if (line !== ".") return undefined
      isData = false
      tell({ accepted: ++accepted })
      return "250 taken"
    }
    const word = line.slice(0, 4).toUpperCase()
    isData = word === "DATA"
    return isData ? "354 go on" : word === "QUIT" ? "221 bye" : "250 ok"
  }
  socket.on("error", () => {})
  socket.on("data", (bytes) => {
    const lines = (waiting + bytes).split("\r\n")
    waiting = lines.pop()! // a split text has a last part
    for (const line of lines) {
      const answer = take(line)
      if (answer !== undefined) socket.write(`${answer}\r\n`)
      if (answer === "221 bye") socket.end()
    }
  })
  socket.write("220 bench\r\n")
})
server.listen(0, "127.0.0.1", () => tell(server.address() as { port: number })) // it listens on a port
