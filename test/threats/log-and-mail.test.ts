import { afterAll, beforeAll, expect, test } from "bun:test"
import { jsonLog } from "../../src/services/runtime/log.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { type SmtpServer, smtpServer } from "../services/mail/smtp-server.ts"

/** Threat `log-and-mail`: no text adds a line to the log, or a header, a recipient or a command to an email. */

const BREAKS = [
  "\r\n",
  "\n",
  "\r",
  "\n\n",
  "\r\n\r\n",
  "\u2028",
  "\u2029",
  "\u0085",
  "\u000b",
  "\u000c",
  "\u0000\r\n",
  "=0D=0A",
  "%0d%0a",
  "\\r\\n",
]
const AFTER = [
  "Bcc: eve@example.org",
  "To: eve@example.org",
  " folded: x",
  ".\r\nRCPT TO:<eve@example.org>",
  '{"level":"error","message":"forged"}',
]
const CORPUS = BREAKS.flatMap((between) => AFTER.map((after) => `Shop${between}${after}`))

test("writes one line of the log for each message, whatever its texts", () => {
  const written: string[] = []
  const log = jsonLog({ level: "debug", now: () => 0, write: (line) => void written.push(line) })
  for (const text of CORPUS) log.warn(text, { path: text, [text]: text, error: new Error(text) })
  const lines = written.join("").split(/\r\n|[\n\r\v\f\u2028\u2029\u0085]/)
  expect(lines.pop()).toBe("")
  expect(lines).toHaveLength(CORPUS.length)
  lines.forEach((line, index) => {
    expect(JSON.parse(line)).toMatchObject({ level: "warn", msg: CORPUS[index]!, path: CORPUS[index]! })
  })
})

let server: SmtpServer
let instance: TestInstance
beforeAll(async () => {
  server = await smtpServer()
  const settings = { base_url: "https://stats.example.org", smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none" }
  instance = await startInstance({ settings })
})
afterAll(async () => {
  await instance[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

test("adds no header, recipient or command to an email, whatever its subject and text", async () => {
  const { mail } = instance.app.instance.accounts
  const send = async (subject: string, text: string) => {
    await mail.send({ to: "bob@example.org", subject, text })
    await mail.deliver()
    return server.mails.at(-1)!
  }
  const plain = [...(await send("Hi", "Hello")).headers.keys()].toSorted()
  for (const text of CORPUS) {
    const { headers, to } = await send(text, text)
    expect({ names: [...headers.keys()].toSorted(), to }).toEqual({ names: plain, to: ["bob@example.org"] })
  }
  expect(server.mails).toHaveLength(CORPUS.length + 1)
  expect(server.said.filter((line) => line.startsWith("RCPT") && line.includes("eve"))).toEqual([])
}, 60_000)
