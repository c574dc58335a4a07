import { expect, test } from "bun:test"
import { sql } from "../../../src/store/sql.ts"
import { startInstance } from "../../kit.ts"
import { smtpServer } from "./smtp-server.ts"

const settings = (port: number, more: Record<string, string> = {}) => ({
  base_url: "https://stats.example.org",
  smtp_host: "127.0.0.1",
  smtp_port: String(port),
  smtp_security: "none",
  ...more,
})
const email = {
  to: "bob@example.org",
  subject: "Grüße an Bob",
  text: "Hello <Bob> & all,\n\nopen this:\nhttps://stats.example.org/reset/abc_-\n\nBye",
}

test("delivers an email as text and HTML from the configured sender", async () => {
  await using server = await smtpServer({ login: { user: "footfall", password: "s3cret" } })
  const more = { smtp_user: "footfall", smtp_password: "s3cret", mail_from: "stats@example.org" }
  await using instance = await startInstance({ settings: settings(server.port, more) })
  const { mail } = instance.app.instance.accounts
  await mail.send(email)
  await mail.deliver()
  const [received] = server.mails
  expect(received).toMatchObject({ from: "stats@example.org", to: ["bob@example.org"] })
  expect(received!.headers.get("subject")).toBe("=?UTF-8?Q?Gr=C3=BC=C3=9Fe_an_Bob?=")
  expect(received!.text.trim()).toBe(email.text)
  expect(received!.html).toContain("Hello &lt;Bob&gt; &amp; all,")
  expect(received!.html).toContain('<a href="https://stats.example.org/reset/abc_-">https://stats.example.org/reset/abc_-</a>')
  expect(server.mails).toHaveLength(1)
})

test("retries after a temporary failure and gives up after a day", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { mail } = instance.app.instance.accounts
  server.refuse("451 try later", 2)
  await mail.send(email)
  await mail.deliver()
  await mail.deliver()
  expect(server.mails).toEqual([])
  instance.clock.advance(60_000)
  await mail.deliver()
  instance.clock.advance(60_000)
  await mail.deliver()
  expect(server.mails).toEqual([])
  instance.clock.advance(60_000)
  await mail.deliver()
  expect(server.mails).toHaveLength(1)

  server.refuse("451 never", 10)
  await mail.send(email)
  for (let hour = 0; hour < 48; hour++) {
    await mail.deliver()
    instance.clock.advance(3_600_000)
  }
  expect(server.mails).toHaveLength(1)
  expect(await instance.app.instance.catalog.all(sql`select id from mails`)).toEqual([])
})

test("does not retry after a permanent failure", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { mail } = instance.app.instance.accounts
  server.refuse("550 no such mailbox")
  await mail.send(email)
  await mail.deliver()
  instance.clock.advance(86_400_000)
  await mail.deliver()
  expect(server.mails).toEqual([])
  expect(instance.log.lines.at(-1)).toMatchObject({
    level: "warn",
    message: "email dropped: the mail server rejected it or all retries failed",
    fields: { smtp_code: 550 },
  })
  expect(JSON.stringify(instance.log.lines)).not.toContain("bob@example.org")
})

test("keeps an email queued while the server rejects the login", async () => {
  await using server = await smtpServer({ login: { user: "footfall", password: "s3cret" } })
  await using instance = await startInstance({ settings: settings(server.port, { smtp_user: "footfall", smtp_password: "old" }) })
  const { accounts, catalog } = instance.app.instance
  await accounts.mail.send(email)
  await accounts.mail.deliver()
  expect(server.mails).toEqual([])
  expect(await catalog.all(sql`select attempts from mails`)).toEqual([{ attempts: 1 }])
})

test("resends an email after a lost connection, and keeps the queue while the server is unreachable", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { mail } = instance.app.instance.accounts
  server.cutOff()
  await mail.send(email)
  await mail.deliver()
  instance.clock.advance(60_000)
  await mail.deliver()
  expect(server.mails).toHaveLength(2)
})

test("commits or rolls back an email together with the link it contains", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { catalog, accounts } = instance.app.instance
  const failing = catalog.transaction(async (statements) => {
    await accounts.mail.post(statements, email)
    throw new Error("no")
  })
  await expect(failing).rejects.toThrow("no")
  await accounts.mail.deliver()
  expect(server.mails).toEqual([])
})

test("seals queued emails", async () => {
  await using instance = await startInstance({ settings: settings(1) })
  const { catalog, accounts } = instance.app.instance
  await catalog.transaction((statements) => accounts.mail.post(statements, email))
  await catalog.checkpoint()
  await catalog.copyTo(`${instance.dataDir}/copy.db`)
  const bytes = Buffer.from(await Bun.file(`${instance.dataDir}/copy.db`).arrayBuffer())
  for (const clear of ["bob@example.org", "/reset/abc_-", "Bye"]) expect(bytes.includes(clear)).toBe(false)
})

test.each<[string, string]>([
  ["a line break in the subject", "Hi\r\nBcc: eve@example.org"],
  ["a bare line feed", "Hi\nBcc: eve@example.org"],
  ["a line separator", "Hi\u2028Bcc: eve@example.org"],
])("%s cannot inject a header", async (_, subject) => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { mail } = instance.app.instance.accounts
  await mail.send({ ...email, subject })
  await mail.deliver()
  expect(server.mails[0]!.to).toEqual(["bob@example.org"])
  expect([...server.mails[0]!.headers.keys()]).not.toContain("bcc")
})

test("queues nothing without a mail server", async () => {
  await using instance = await startInstance()
  const { mail } = instance.app.instance.accounts
  expect(mail.isOn()).toBe(false)
  await mail.send(email)
  expect(await instance.app.instance.catalog.all(sql`select id from mails`)).toEqual([])
})

test("never falls back to a plain connection if TLS is required: neither email nor password are sent in clear", async () => {
  await using server = await smtpServer({ login: { user: "footfall", password: "s3cret" } })
  const more = { smtp_security: "starttls", smtp_user: "footfall", smtp_password: "s3cret" }
  await using instance = await startInstance({ settings: settings(server.port, more) })
  const { mail } = instance.app.instance.accounts
  await mail.send(email)
  await mail.deliver()
  expect(server.mails).toEqual([])
  expect(server.said.map((line) => line.split(" ")[0])).toEqual(["EHLO", "STARTTLS"])
})

test("sends the HTML part and the headers that an email names, long URLs unfolded", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port, { smtp_reply_to: "help@example.org" }) })
  const { mail } = instance.app.instance.accounts
  const url = `https://stats.example.org/unsubscribe/${"t".repeat(300)}`
  const html = "<!doctype html><p>Größe &amp; Zahl</p>"
  await mail.send({ ...email, html, headers: { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" } })
  await mail.send({ ...email, headers: { "Reply-To": "ann@example.org" } })
  await mail.deliver()
  const [first, second] = server.mails
  expect(first!.html.trim()).toBe(html)
  expect(first!.text.trim()).toBe(email.text)
  expect(first!.raw).toContain(`List-Unsubscribe: <${url}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`)
  expect([first!.headers.get("reply-to"), second!.headers.get("reply-to")]).toEqual(["help@example.org", "ann@example.org"])
  expect(second!.headers.has("list-unsubscribe")).toBe(false)
})

test.each([
  ["a line break", { "List-Unsubscribe": "<https://a.example/>\r\nBcc: eve@example.org" }],
  ["a bare line feed", { "Reply-To": "a@example.org\nBcc: eve@example.org" }],
  ["a null character", { "Reply-To": "a@example.org\0" }],
  ["a line separator", { "List-Unsubscribe-Post": "One\u2028Bcc: eve@example.org" }],
  ["no value", { "Reply-To": "" }],
  ["a name that is not on the list", { Bcc: "eve@example.org" } as object],
  ["a header in its name", { "Reply-To: a@example.org\r\nBcc": "eve@example.org" } as object],
])("queues no email whose header has %s", async (_, headers) => {
  await using instance = await startInstance({ settings: settings(1) })
  const { catalog, accounts } = instance.app.instance
  await expect(accounts.mail.send({ ...email, headers })).rejects.toThrow("invalid header")
  expect(await catalog.all(sql`select id from mails`)).toEqual([])
})

test("reports what became of an email, once, to the owner of its key", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { mail } = instance.app.instance.accounts
  const reports: string[] = []
  mail.onOutcome("reports", async (_, { key, outcome }) => void reports.push(`${key} ${outcome}`))
  mail.onOutcome("others", async () => void reports.push("others"))
  await mail.send({ ...email, key: "reports:12:2026-W48" })
  await mail.send(email)
  await mail.send({ ...email, key: "nobody:1" })
  await mail.deliver()
  expect(reports).toEqual(["12:2026-W48 accepted"])

  server.refuse("550 no such mailbox")
  await mail.send({ ...email, key: "reports:refused" })
  await mail.deliver()
  server.refuse("451 never", 10)
  await mail.send({ ...email, key: "reports:late" })
  for (let hour = 0; hour < 48; hour++) {
    await mail.deliver()
    instance.clock.advance(3_600_000)
  }
  expect(reports).toEqual(["12:2026-W48 accepted", "refused refused", "late given_up"])
  expect(server.mails).toHaveLength(3)
})

test("removes an email whose outcome can't be stored, so that it is not sent twice", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { mail } = instance.app.instance.accounts
  mail.onOutcome("reports", () => Promise.reject(new Error("bug")))
  await mail.send({ ...email, key: "reports:1" })
  await mail.deliver()
  await mail.deliver()
  expect(server.mails).toHaveLength(1)
  expect(instance.log.lines.at(-1)).toMatchObject({ level: "error", message: "the outcome of an email could not be stored" })
})

test("repeats an email with the same Message-ID, and gives each email its own", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port, { mail_from: "Footfall <stats@example.org>" }) })
  const { mail } = instance.app.instance.accounts
  server.cutOff(2)
  await mail.send(email)
  await mail.send(email)
  await mail.deliver()
  instance.clock.advance(60_000)
  await mail.deliver()
  const ids = server.mails.map(({ headers }) => headers.get("message-id")!)
  expect(ids).toHaveLength(4)
  expect(new Set(ids).size).toBe(2)
  expect(ids[0]).toMatch(/^<[0-9a-f]{32}@example\.org>$/)
})

test("sends more emails than one read of the queue returns", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server.port) })
  const { catalog, accounts } = instance.app.instance
  await catalog.transaction(async (statements) => {
    for (let count = 0; count < 120; count++) await accounts.mail.post(statements, email)
  })
  await accounts.mail.deliver()
  expect(server.mails).toHaveLength(120)
})
