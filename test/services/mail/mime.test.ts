import { expect, test } from "bun:test"
import PostalMime from "postal-mime"
import { startInstance } from "../../kit.ts"
import { type SmtpServer, smtpServer } from "./smtp-server.ts"

const settings = ({ port }: SmtpServer) => ({
  ...{ smtp_host: "127.0.0.1", smtp_port: String(port), smtp_security: "none" },
  ...{ mail_from: "Footfall <stats@example.org>", smtp_reply_to: "help@example.org" },
})
/** Texts that are hard to encode, or that end a line, a header, a part or a message if they are not. */
const TEXTS = [
  "Plain",
  "Größe – 売上 🎉 \u202etxt",
  "A subject that is so long that it has to be folded, because no line of a header should have more than 76 characters, größer",
  '=?UTF-8?Q?encoded?= and "quoted" <x@example.org>, (comment); a\tb',
  ".\r\n..\r\nQUIT\r\n\r\nFrom: eve@example.org\r\n--boundary--",
  `${"x".repeat(2_000)} <b>&amp;</b> ${"ü".repeat(500)}`,
  "line\r\nBcc: eve@example.org\r\n\r\nbody",
  " leading and trailing ",
]

test("an independent parser of MIME reads what was sent", async () => {
  await using server = await smtpServer()
  await using instance = await startInstance({ settings: settings(server) })
  const { mail } = instance.app.instance.accounts
  const url = `https://stats.example.org/unsubscribe/${"t".repeat(43)}`
  const headers = { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
  for (const [index, text] of TEXTS.entries()) {
    const html = `<!doctype html><p title="${index}">${text.replaceAll(/[<&]/g, "")}</p>`
    await mail.send({ to: "ann@example.org", subject: text, text, html, headers })
    await mail.deliver()
    const { raw } = server.mails.at(-1)!
    // No line is longer than SMTP allows, and none needs an extension of it.
    expect(Math.max(...raw.split("\r\n").map((line) => line.length))).toBeLessThanOrEqual(998)
    expect(raw).toMatch(/^[\t\r\n\x20-\x7e]*$/)
    expect(raw.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/)

    const parsed = await PostalMime.parse(raw)
    expect(parsed).toMatchObject({
      from: { name: "Footfall", address: "stats@example.org" },
      to: [{ address: "ann@example.org" }],
      replyTo: [{ address: "help@example.org" }],
      messageId: expect.stringMatching(/^<[0-9a-f]{32}@example\.org>$/),
      attachments: [],
    })
    const folded = (line: string | undefined) => line?.replaceAll(/\s+/g, " ").trim()
    expect(folded(parsed.subject)).toBe(folded(text))
    const lines = (part: string | undefined) => part?.replaceAll("\r\n", "\n").replace(/\n$/, "")
    expect(lines(parsed.text)).toBe(lines(text))
    expect(lines(parsed.html)).toBe(lines(html))
    const names = parsed.headers.map(({ key }) => key)
    expect(new Set(names).size).toBe(names.length)
    expect(names.toSorted()).toEqual([
      "content-type",
      "date",
      "from",
      "list-unsubscribe",
      "list-unsubscribe-post",
      "message-id",
      "mime-version",
      "reply-to",
      "subject",
      "to",
    ])
    expect(parsed.headers.find(({ key }) => key === "list-unsubscribe")!.value).toBe(`<${url}>`)
    expect(parsed.headers.find(({ key }) => key === "content-type")!.value).toStartWith("multipart/alternative")
  }
})
