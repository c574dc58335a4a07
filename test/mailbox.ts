/** A mail server on loopback that accepts and keeps all emails. */
import { createServer, type Socket } from "node:net"

export interface Mailbox extends AsyncDisposable {
  /** Settings for `startInstance`. */
  settings: Record<string, string>
  /** Decoded emails in order of arrival. */
  emails: { to: string; text: string }[]
}

export async function openMailbox(): Promise<Mailbox> {
  const emails: Mailbox["emails"] = []
  const server = createServer((socket) => speak(socket, emails))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number } // it listens on a port
  return {
    emails,
    settings: { smtp_host: "127.0.0.1", smtp_port: String(port), smtp_security: "none", mail_from: "footfall@example.org" },
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}

/** Implements the part of SMTP that a client needs to deliver an email. */
function speak(socket: Socket, emails: Mailbox["emails"]): void {
  let waiting = ""
  let to = ""
  let email: string | undefined
  const say = (line: string) => void socket.write(`${line}\r\n`)

  function take(line: string): void {
    if (email !== undefined) {
      if (line !== ".") email += `${line}\n`
      else {
        emails.push({ to, text: decoded(email) })
        email = undefined
        say("250 taken")
      }
      return
    }
    const word = line.slice(0, 4).toUpperCase()
    if (word === "RCPT") to = /<(.*)>/.exec(line)?.[1] ?? ""
    if (word === "DATA") email = ""
    if (word === "QUIT") socket.end("221 bye\r\n")
    else say(word === "DATA" ? "354 go on" : "250 ok")
  }

  socket.on("error", () => {})
  socket.on("data", (bytes) => {
    const lines = (waiting + bytes).split("\r\n")
    waiting = lines.pop()!
    for (const line of lines) take(line)
  })
  say("220 test")
}

/** Decodes quoted-printable and soft line breaks of ASCII text. */
const decoded = (email: string): string =>
  email.replace(/=\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
