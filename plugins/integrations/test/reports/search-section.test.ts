import { expect, setDefaultTimeout, test } from "bun:test"
import { type SmtpServer, smtpServer } from "#plugin/test"
import { type Desk, desk } from "../search/kit.ts"

setDefaultTimeout(60_000)

/** Sends the weekly report from 9 to 15 November and returns its text and HTML. */
async function send({ ask, instance }: Desk, server: SmtpServer, body: object = {}) {
  const { body: report } = await ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"], ...body })
  expect(await ask("POST", `/reports/${report.id}/send-now`)).toMatchObject({ status: 200, body: { queued: 1 } })
  await instance.app.instance.accounts.mail.deliver()
  return server.mails.at(-1)!
}

/** The lines of a section in the text part. */
const sectionOf = (text: string, title: string): string[] | undefined =>
  text
    .split("\n\n")
    .map((block) => block.split("\n"))
    .find(([first]) => first === title)
    ?.slice(1)

const record = (day: string, query: string, clicks: number) => ({ day, query, clicks, impressions: 10 * clicks + 10, position: 3 })
/** Queries are a stranger's texts. */
const HOSTILE = "<img src=x onerror=alert(1)> \u202etxt.exe\r\nBcc: eve@example.org"

test("a report lists the queries of its days with the most clicks, as the search engine counts them", async () => {
  await using server = await smtpServer()
  await using at = await desk({ settings: { smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none" } })
  at.console.records = [
    record("2026-11-08", "the week before", 99),
    record("2026-11-09", "shoes", 4),
    record("2026-11-15", "shoes", 3),
    record("2026-11-12", "boots", 5),
    record("2026-11-12", "sandals", 0),
    record("2026-11-13", HOSTILE, 6),
    { ...record("2026-11-13", "rare", 7), isWithheld: true },
    record("2026-11-16", "the week after", 99),
    ...Array.from({ length: 12 }, (_, index) => ({
      ...record("2026-11-14", `other ${String(index).padStart(2, "0")}`, 1),
      impressions: 100 - index,
    })),
  ]
  await at.connect()
  await at.map()
  await at.work()
  const { text, html, headers } = await send(at, server)
  const lines = sectionOf(text, "Search queries (clicks)")!
  expect(lines.slice(0, 3)).toEqual(["shoes: 7", expect.stringMatching(/^<img src=x onerror=alert\(1\)> .*: 6$/), "boots: 5"])
  expect(lines).toHaveLength(5)
  expect(lines.slice(3).every((line) => /^other \d\d: 1$/.test(line))).toBe(true)
  expect(text).not.toMatch(/the week|rare|\u202e/)
  for (const part of ["Search queries", ">shoes<", ">7<", "&lt;img src=x onerror=alert(1)&gt;"]) expect(html).toContain(part)
  expect(html).not.toMatch(/<img|\u202e/)
  expect([...headers.keys()]).not.toContain("bcc")
})

test("a report has no list of queries for a site without search data, or without the section", async () => {
  await using server = await smtpServer()
  await using at = await desk({ settings: { smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none" } })
  expect((await send(at, server)).text).not.toContain("Search queries")
  at.console.records = [record("2026-11-10", "shoes", 4)]
  await at.connect()
  await at.map()
  await at.work()
  expect((await send(at, server, { sections: ["pages"] })).text).not.toContain("Search queries")
  expect(sectionOf((await send(at, server)).text, "Search queries (clicks)")).toEqual(["shoes: 4"])
})
