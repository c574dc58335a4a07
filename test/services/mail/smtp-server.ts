import { createServer, type Socket } from "node:net"

export interface ReceivedMail {
  from: string
  to: string[]
  /** Headers by lower-case name, with folded lines joined. */
  headers: Map<string, string>
  /** The decoded plain-text part. */
  text: string
  html: string
  raw: string
}

export interface SmtpServer extends AsyncDisposable {
  port: number
  mails: ReceivedMail[]
  /** Answers the next `times` messages with this line instead of accepting them. */
  refuse(line: string, count?: number): void
  /** Closes the connection after the message and before the answer. */
  cutOff(count?: number): void
  /** Milliseconds before the answer to each message. */
  pause: number
  /** Recipients whose `RCPT` is never answered. */
  hanging: RegExp | undefined
  /** Line that ends each connection instead of the greeting. */
  greeting: string | undefined
  /** Answers `EHLO` one letter at a time without end, with this many milliseconds between two. */
  trickle: number
  /** Number of open connections. */
  connections(): number
  /** The commands of the dialogue in order. */
  said: string[]
}

/** Starts an SMTP server on loopback that records what it receives. With `login` it requires authentication. */
export async function smtpServer({ login }: { login?: { user: string; password: string } } = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = []
  const said: string[] = []
  const refusals: string[] = []
  let cuts = 0
  const sockets = new Set<Socket>()

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
    let waiting = ""
    let message: string[] | undefined
    let [from, to, isIn] = ["", [] as string[], login === undefined]
    const say = (line: string) => void socket.write(`${line}\r\n`)

    function line(text: string): void {
      if (message) {
        data(text)
        return
      }
      said.push(text)
      const [, word = "", rest = ""] = /^(\S+) ?(.*)$/.exec(text) ?? []
      const answers: Record<string, () => void> = {
        EHLO: () => {
          if (own.trickle === 0) {
            say(`250-localhost\r\n250-8BITMIME${login ? "\r\n250-AUTH PLAIN" : ""}\r\n250 SIZE 10000000`)
            return
          }
          socket.write("250-")
          const timer = setInterval(() => socket.write("."), own.trickle)
          socket.on("close", () => clearInterval(timer))
        },
        HELO: () => say("250 localhost"),
        AUTH: () => {
          const [, user, password] = Buffer.from(rest.split(" ")[1] ?? "", "base64")
            .toString()
            .split("\0")
          isIn = user === login?.user && password === login?.password
          say(isIn ? "235 ok" : "535 no")
        },
        MAIL: () => {
          from = /<(.*)>/.exec(rest)?.[1] ?? ""
          to = []
          say(isIn ? "250 ok" : "530 sign in first")
        },
        RCPT: () => {
          if (own.hanging?.test(rest)) return
          to.push(/<(.*)>/.exec(rest)?.[1] ?? "")
          say("250 ok")
        },
        DATA: () => {
          message = []
          say("354 go on")
        },
        RSET: () => say("250 ok"),
        QUIT: () => {
          say("221 bye")
          socket.end()
        },
      }
      const answer = answers[word.toUpperCase()] ?? (() => say("502 what?"))
      answer()
    }
    function data(text: string): void {
      if (text !== ".") {
        message!.push(text.startsWith("..") ? text.slice(1) : text)
        return
      }
      const raw = message!.join("\r\n")
      message = undefined
      const refusal = refusals.shift()
      if (refusal !== undefined) {
        say(refusal)
        return
      }
      const mail = parsed(raw, from, to)
      if (cuts > 0) {
        mails.push(mail)
        cuts--
        socket.destroy()
        return
      }
      const take = () => {
        mails.push(mail)
        say("250 taken")
      }
      if (own.pause > 0) setTimeout(take, own.pause)
      else take()
    }
    socket.on("data", (chunk) => {
      waiting += chunk.toString("utf8")
      const lines = waiting.split("\r\n")
      waiting = lines.pop()!
      for (const each of lines) line(each)
    })
    if (own.greeting !== undefined) socket.end(`${own.greeting}\r\n`)
    else say("220 localhost ready")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address() as { port: number }
  const own: SmtpServer = {
    port: address.port,
    mails,
    said,
    connections: () => sockets.size,
    ...{ pause: 0, hanging: undefined, greeting: undefined, trickle: 0 },
    refuse: (text, count = 1) => void refusals.push(...Array<string>(count).fill(text)),
    cutOff(count = 1) {
      cuts += count
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return own
}

function parsed(raw: string, from: string, to: string[]): ReceivedMail {
  const { headers, body } = split(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers.get("content-type") ?? "")?.[1]
  const parts =
    boundary === undefined
      ? [{ headers, body }]
      : body
          .split(`--${boundary}`)
          .slice(1, -1)
          .map((part) => split(part.replace(/^\r\n/, "")))
  const part = (type: string) => {
    const found = parts.find((each) => each.headers.get("content-type")?.startsWith(type))
    return found ? decoded(found.body, found.headers.get("content-transfer-encoding") ?? "7bit") : ""
  }
  return { from, to, headers, text: part("text/plain"), html: part("text/html"), raw }
}

function split(raw: string): { headers: Map<string, string>; body: string } {
  const end = raw.indexOf("\r\n\r\n")
  const head = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")
  const headers = new Map(head.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]))
  return { headers, body: raw.slice(end + 4) }
}

function decoded(body: string, encoding: string): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8")
  if (encoding !== "quoted-printable") return body.replaceAll("\r\n", "\n")
  const bytes = body.replace(/=\r\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, "latin1").toString("utf8").replaceAll("\r\n", "\n")
}
