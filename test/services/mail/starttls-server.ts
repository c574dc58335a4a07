import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { join } from "node:path"
import { createSecureContext, TLSSocket } from "node:tls"

/** A certificate for `localhost` that no one trusts by default. */
export async function certificate(folder: string): Promise<{ key: string; cert: string }> {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const made = Bun.spawn(
    [
      ...["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ],
    { stderr: "ignore" },
  )
  expect(await made.exited).toBe(0)
  return { key, cert }
}

/** A mail server that offers STARTTLS and answers slowly. Keeps the lines that it received, in clear and encrypted. */
export async function startTlsServer(files: { key: string; cert: string }, delayMs: number) {
  const secureContext = createSecureContext({ key: readFileSync(files.key), cert: readFileSync(files.cert) })
  const lines = { clear: [] as string[], encrypted: [] as string[] }
  const server = createServer((socket) => {
    speak(socket, false)
    socket.write("220 slow\r\n")
  })
  function speak(socket: Socket, isEncrypted: boolean): void {
    let [waiting, isData] = ["", false]
    const say = async (answer: string) => {
      await Bun.sleep(delayMs)
      socket.write(`${answer}\r\n`)
    }
    const answerTo = (line: string): string | undefined => {
      if (isData && line !== ".") return undefined
      if (isData) {
        isData = false
        return "250 taken"
      }
      const word = line.slice(0, 4).toUpperCase()
      isData = word === "DATA"
      if (word === "EHLO") return isEncrypted ? "250 localhost" : "250-localhost\r\n250 STARTTLS"
      return isData ? "354 go on" : word === "QUIT" ? "221 bye" : "250 ok"
    }
    const take = (bytes: Buffer): void => {
      const received = (waiting + bytes).split("\r\n")
      waiting = received.pop()! // a split text has a last part
      for (const line of received) {
        lines[isEncrypted ? "encrypted" : "clear"].push(line)
        if (line.toUpperCase() === "STARTTLS") {
          socket.off("data", take)
          socket.write("220 go ahead\r\n")
          speak(new TLSSocket(socket, { isServer: true, secureContext }), true)
          return
        }
        const answer = answerTo(line)
        if (answer !== undefined) void say(answer)
      }
    }
    socket.on("error", () => {})
    socket.on("data", take)
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number } // it listens on a port
  return { port, lines, [Symbol.dispose]: () => void server.close() }
}
