import { expect, setDefaultTimeout, test } from "bun:test"
import { archiveLines, archiveOf, type SmtpServer, smtpServer } from "#plugin/test"
import { receiver, type Stand, stand } from "../kit.ts"

setDefaultTimeout(60_000)

const DAY = 86_400_000
const HOUR = 3_600_000
/** A Wednesday; the next weekly report is due on Monday at 06:00 UTC. */
const WEDNESDAY = "2026-11-18T09:00:00Z"
const UNTIL_MONDAY = Date.parse("2026-11-23T06:00:00Z") - Date.parse(WEDNESDAY)

const mailSettings = (server: SmtpServer) => ({
  ...{ smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none" },
  ...{ base_url: "http://stats.example.org", mail_from: "stats@example.org" },
})

const standWith = (server: SmtpServer, now = WEDNESDAY) => stand([], { now, settings: mailSettings(server) })

/** Advances the clock, runs the jobs and waits until the emails are handed over. */
async function pass(at: Stand, ms: number): Promise<void> {
  await at.after(ms)
  await at.instance.app.instance.accounts.mail.deliver()
}
const view = ({ instance }: Stand, path: string, payload: object = {}) =>
  instance.collect({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example", ...payload })

test("sends text and HTML with the same content, and a link to unsubscribe with one click", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  await view(at, "/pricing")
  await view(at, "/<img src=x onerror=alert(1)>")
  await view(at, "/a?utm_source=%3Cb%3Ebold%3C%2Fb%3E%0d%0aBcc:%20eve@example.org")
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org", "bob@example.org"] })
  await pass(at, UNTIL_MONDAY - HOUR)
  expect(server.mails).toHaveLength(0)
  await pass(at, HOUR)
  expect(server.mails.map(({ to }) => to)).toEqual([["ann@example.org"], ["bob@example.org"]])
  const [mail, other] = server.mails
  expect(mail!.headers.get("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click")
  expect(mail!.headers.get("list-unsubscribe")).toMatch(/^<http:\/\/stats\.example\.org\/unsubscribe\/[\w-]{43}>$/)
  expect(mail!.headers.get("list-unsubscribe")).not.toBe(other!.headers.get("list-unsubscribe"))
  expect(mail!.headers.get("from")).toBe("stats@example.org")
  expect([...mail!.headers.keys()]).not.toContain("bcc")
  for (const part of ["Pageviews", "Top pages", "/pricing", "Sources", "Countries", "16 – 22 Nov 2026"]) {
    expect(mail!.text).toContain(part)
    expect(mail!.html).toContain(part)
  }
  expect(mail!.text).toContain("/<img src=x onerror=alert(1)>")
  expect(mail!.html).not.toContain("<img")
  expect(mail!.html).toContain("&lt;img src=x onerror=alert(1)&gt;")
  expect(mail!.html).not.toContain("<b>bold")
  expect(mail!.html).not.toMatch(/<script|javascript:|<link|src="http/)
  // Nothing more is sent until the next week.
  await pass(at, 6 * DAY)
  expect(server.mails).toHaveLength(2)
  await pass(at, DAY)
  expect(server.mails).toHaveLength(4)
})

test("repeats an email after a temporary failure and after a lost connection, with the same Message-ID", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })
  server.refuse("451 try later")
  await pass(at, UNTIL_MONDAY)
  expect(server.mails).toHaveLength(0)
  server.cutOff()
  await pass(at, 60_000)
  await pass(at, 120_000)
  expect(server.mails).toHaveLength(2)
  expect(server.mails[0]!.headers.get("message-id")).toBe(server.mails[1]!.headers.get("message-id")!)
  await pass(at, DAY)
  expect(server.mails).toHaveLength(2)
})

test("sends nothing more to a recipient after three permanent failures in a row", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { body: report } = await at.ask("POST", "/reports", { kind: "daily", recipients: ["ann@example.org", "bob@example.org"] })
  const ask = () => at.as({ role: "owner" })
  for (let day = 0; day < 3; day++) {
    server.refuse("550 no such mailbox")
    await pass(at, DAY)
  }
  // Bob received three emails, Ann's were refused.
  expect(server.mails.map(({ to }) => to[0])).toEqual(["bob@example.org", "bob@example.org", "bob@example.org"])
  expect((await (await ask())("GET", `/reports/${report.id}`)).body.recipient_states).toEqual([
    { email: "ann@example.org", state: "failed" },
    { email: "bob@example.org", state: "active" },
  ])
  await pass(at, DAY)
  expect(server.mails.map(({ to }) => to[0]).slice(3)).toEqual(["bob@example.org"])
  // Removing and adding the address begins again.
  const change = await ask()
  await change("PATCH", `/reports/${report.id}`, { recipients: ["bob@example.org"] })
  await change("PATCH", `/reports/${report.id}`, { recipients: ["bob@example.org", "ann@example.org"] })
  await pass(at, DAY)
  expect(server.mails.map(({ to }) => to[0]).slice(4)).toEqual(["bob@example.org", "ann@example.org"])
})

/** Posts as mail programs do it: without cookies, and with a form. */
function post({ instance }: Stand, url: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return instance.fetch(new Request(url.replace("http://stats.example.org", "http://localhost"), { method: "POST", body, headers }))
}
const linkOf = (mail: { headers: Map<string, string> }) => mail.headers.get("list-unsubscribe")!.slice(1, -1)

test.each([
  ["url-encoded", () => new URLSearchParams({ "List-Unsubscribe": "One-Click" })],
  [
    "multipart",
    () => {
      const form = new FormData()
      form.set("List-Unsubscribe", "One-Click")
      return form
    },
  ],
])("a mail program unsubscribes with a %s form, and no one else is affected", async (_, form) => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { body: report } = await at.ask("POST", "/reports", { kind: "daily", recipients: ["ann@example.org", "bob@example.org"] })
  await pass(at, DAY)
  const link = linkOf(server.mails[0]!)
  const page = await at.instance.fetch(new Request(link.replace("http://stats.example.org", "http://localhost")))
  expect(page.status).toBe(200)
  expect(await page.text()).toContain("Unsubscribe</button>")
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
  await pass(at, DAY)
  expect(server.mails).toHaveLength(4) // looking at the page changed nothing
  const answer = await post(at, link, form())
  expect({ status: answer.status, cookie: answer.headers.get("set-cookie") }).toEqual({ status: 200, cookie: null })
  expect((await post(at, link, form())).status).toBe(200)
  await pass(at, DAY)
  expect(server.mails.slice(4).map(({ to }) => to[0])).toEqual(["bob@example.org"])
  expect((await at.ask("GET", `/reports/${report.id}`)).body.recipient_states[0]).toEqual({
    email: "ann@example.org",
    state: "unsubscribed",
  })
  // One entry in the audit log, without the address.
  const rows = await at.instance.app.instance.catalog.all<{ n: number }>(
    (await import("#plugin"))
      .sql`select count(*) as n from audit_log where action = 'integrations.report.unsubscribe' and changes_json not like '%ann%'`,
  )
  expect(rows).toEqual([{ n: 1 }])
})

test("an edit can't add an unsubscribed person again, but asks once in 30 days", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { body: report } = await at.ask("POST", "/reports", { kind: "monthly", recipients: ["ann@example.org", "bob@example.org"] })
  await at.ask("POST", `/reports/${report.id}/send-now`)
  await pass(at, 0)
  const link = linkOf(server.mails[0]!)
  await post(at, link, new URLSearchParams({ "List-Unsubscribe": "One-Click" }))
  const again = async (as: Stand["ask"]) => {
    // A list that contains the address anyway asks no one.
    await as("PATCH", `/reports/${report.id}`, { hour: 8, recipients: ["ann@example.org", "bob@example.org"] })
    await as("PATCH", `/reports/${report.id}`, { recipients: ["bob@example.org"] })
    return as("PATCH", `/reports/${report.id}`, { recipients: ["bob@example.org", "ANN@example.org"] })
  }
  expect((await again(at.ask)).body.recipient_states[1]).toEqual({ email: "ANN@example.org", state: "unsubscribed" })
  await again(at.ask)
  await pass(at, 0)
  const asked = () => server.mails.filter(({ text }) => text.includes("added your address again"))
  expect(asked()).toHaveLength(1)
  expect(asked()[0]!.text).toContain(link)
  await pass(at, 31 * DAY)
  await again(await at.as({ role: "owner" }))
  await pass(at, 0)
  expect(asked()).toHaveLength(2)
  server.mails.length = 0
  // Only the person can undo it.
  expect((await post(at, link, new URLSearchParams({ subscribe: "1" }))).status).toBe(200)
  for (let day = 0; day < 31; day++) await pass(at, DAY)
  expect(server.mails.map(({ to }) => to[0]!.toLowerCase()).toSorted()).toEqual(["ann@example.org", "bob@example.org"])
})

test("a token that does not exist gets the same page as one of a deleted report", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { body: report } = await at.ask("POST", "/reports", { kind: "daily", recipients: ["ann@example.org"] })
  await pass(at, DAY)
  const link = linkOf(server.mails[0]!)
  await at.ask("DELETE", `/reports/${report.id}`)
  const answers = [await post(at, link, ""), await post(at, `${link.slice(0, -3)}abc`, "")]
  expect(answers.map(({ status }) => status)).toEqual([404, 404])
  expect(await answers[0]!.text()).toBe(await answers[1]!.text())
})

test("sends a report that is at most 24 hours late, and leaves out an older one", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })
  await pass(at, UNTIL_MONDAY + 23 * HOUR)
  expect(server.mails).toHaveLength(1)
  await pass(at, 7 * DAY + 2 * HOUR)
  expect(server.mails).toHaveLength(1)
  await pass(at, 6 * DAY)
  expect(server.mails).toHaveLength(2)
  expect(server.mails[1]!.text).toContain("30 Nov – 6 Dec 2026")
})

test("a viewer sees and keeps only the subscription of their own verified address", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { catalog } = at.instance.app.instance
  await at.ask("POST", "/reports", { kind: "daily", recipients: ["boss@example.org"] })
  const viewer = await at.as({ role: "viewer" })
  const { sql } = await import("#plugin")
  const row = await catalog.get<{ id: number; email: string }>(sql`select id, email from users order by id desc limit 1`)
  const own = { kind: "weekly", recipients: [row!.email.toUpperCase()] }
  expect(await viewer("POST", "/reports", own)).toMatchObject({ status: 403, body: { code: "forbidden" } })
  await catalog.run(sql`update users set email_verified_at = 1 where id = ${row!.id}`)
  const made = await viewer("POST", "/reports", own)
  expect(made).toMatchObject({ status: 201, body: { can_manage: true } })
  expect((await viewer("GET", "/reports")).body.data.map(({ id }: { id: number }) => id)).toEqual([made.body.id])
  expect((await viewer("GET", "/reports/1")).status).toBe(404)
  expect((await viewer("DELETE", "/reports/1")).status).toBe(404)
  for (const recipients of [["boss@example.org"], [row!.email, "boss@example.org"]])
    expect(await viewer("PATCH", `/reports/${made.body.id}`, { recipients })).toMatchObject({ status: 403, body: { code: "forbidden" } })
  expect(await viewer("PATCH", `/reports/${made.body.id}`, { hour: 9 })).toMatchObject({ status: 200, body: { hour: 9 } })
  expect((await viewer("POST", "/reports", { kind: "daily", channel: "chat" })).status).toBe(403)
  // Who loses the site loses the subscription.
  await pass(at, UNTIL_MONDAY + 3 * HOUR)
  const sentTo = () => server.mails.map(({ to }) => to[0]).filter((to) => to !== "boss@example.org")
  expect(sentTo().map((to) => to?.toLowerCase())).toEqual([row!.email])
  await catalog.run(sql`update users set status = 'disabled' where id = ${row!.id}`)
  await pass(at, 7 * DAY)
  expect(sentTo()).toHaveLength(1)
})

test("a member who leaves loses their own subscription, and hands over the reports for others", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { catalog } = at.instance.app.instance
  const admin = await at.as({ role: "admin" })
  const { sql } = await import("#plugin")
  const row = await catalog.get<{ id: number; email: string }>(sql`select id, email from users order by id desc limit 1`)
  await catalog.run(sql`update users set email_verified_at = 1 where id = ${row!.id}`)
  const own = await admin("POST", "/reports", { kind: "daily", recipients: [row!.email] })
  const others = await admin("POST", "/reports", { kind: "daily", recipients: [row!.email, "ann@example.org"] })
  expect([own.status, others.status]).toEqual([201, 201])
  expect((await at.ask("DELETE", `/../../organizations/1/members/${row!.id}`)).status).toBe(204)
  const left = await at.ask("GET", "/reports")
  expect(left.body.data.map(({ id, created_by }: { id: number; created_by: number }) => [id, created_by])).toEqual([[others.body.id, 1]])
})

test("leaves out revenue unless every viewer may see it", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  await view(at, "/thanks", { n: "Purchase", $: { amount: "12.50", currency: "EUR" } })
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })
  await pass(at, UNTIL_MONDAY)
  expect(server.mails[0]!.text).toContain("Revenue: €12.50")
  await view(at, "/thanks", { n: "Purchase", $: { amount: "12.50", currency: "EUR" } })
  expect((await at.ask("PATCH", "/settings", { read_role: "editor" })).status).toBe(200)
  await pass(at, 7 * DAY)
  expect(server.mails).toHaveLength(2)
  expect(server.mails[1]!.text).not.toContain("Revenue")
})

test("sends a report to the chats of the site, with the same content", async () => {
  await using server = await smtpServer()
  using chat = receiver()
  await using at = await stand([chat], { now: WEDNESDAY, settings: mailSettings(server) })
  await view(at, "/pricing_*x*")
  await at.ask("POST", "/integrations/slack/connect", { url: chat.url("/services/chat-with-a-long-secret") })
  chat.received.length = 0
  await at.ask("POST", "/reports", { kind: "weekly", channel: "chat" })
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })
  await pass(at, UNTIL_MONDAY)
  await at.work()
  // The report that Ann receives by email is of no concern to the chat.
  expect(chat.received).toHaveLength(1)
  const text = JSON.parse(chat.received[0]!.body).text as string
  for (const part of ["Weekly report for Shop", "16 – 22 Nov 2026", "Pageviews: 1", "/pricing_*x*: 1"]) expect(text).toContain(part)
  expect(server.mails.map(({ to }) => to[0])).toEqual(["ann@example.org"])
})

test.each([
  ["an address with a line break", { kind: "daily", recipients: ["a@example.org\r\nBcc: eve@example.org"] }, "invalid_characters"],
  ["two addresses in one", { kind: "daily", recipients: ["a@example.org, eve@example.org"] }, "invalid_email"],
  ["no recipient", { kind: "daily" }, "required"],
  ["an address twice", { kind: "daily", recipients: ["a@example.org", "A@example.org"] }, "duplicate"],
  ["recipients of a chat", { kind: "daily", channel: "chat", recipients: ["a@example.org"] }, "not_allowed"],
  ["an unknown section", { kind: "daily", recipients: ["a@example.org"], sections: ["secrets"] }, "invalid_choice"],
])("rejects %s", async (_, body, code) => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  expect(await at.ask("POST", "/reports", body)).toMatchObject({ status: 422, body: { errors: [{ code }] } })
})

test("accepts 50 recipients, and no more", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const recipients = Array.from({ length: 51 }, (_, i) => `person-${i}@example.org`)
  expect(await at.ask("POST", "/reports", { kind: "daily", recipients })).toMatchObject({
    status: 422,
    body: { code: "too_many_recipients" },
  })
  expect((await at.ask("POST", "/reports", { kind: "daily", recipients: recipients.slice(1) })).status).toBe(201)
})

test("sends on request at most once in ten minutes", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })
  expect(await at.ask("POST", "/reports/1/send-now")).toMatchObject({
    status: 200,
    body: { queued: 1, period: { from: "2026-11-09", to: "2026-11-15" } },
  })
  expect(await at.ask("POST", "/reports/1/send-now")).toMatchObject({ status: 429, body: { code: "rate_limited" } })
  await pass(at, UNTIL_MONDAY)
  expect(server.mails).toHaveLength(2) // the week that ended since then
})

test("the archive of a site has its reports without recipients", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  await at.ask("POST", "/reports", { kind: "daily", recipients: ["ann@example.org"], sections: ["pages"] })
  await at.ask("POST", "/alerts", { type: "drop", channels: [] })
  const archive = await archiveOf(at.instance)
  expect(archiveLines(archive["integrations_reports.ndjson"])).toEqual([
    { kind: "daily", channel: "email", hour: 7, sections: ["pages"], enabled: true },
  ])
  expect(archiveLines(archive["integrations_alerts.ndjson"])).toEqual([
    { type: "drop", threshold: 1, factor: null, window_minutes: 720, goal: null, enabled: true },
  ])
})

test("ends when its site moves to another organization", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server)
  const { body: report } = await at.ask("POST", "/reports", { kind: "daily", recipients: ["ann@example.org"] })
  expect(report.recipients).toEqual(["ann@example.org"])
  const { sites, catalog, organizations } = at.instance.app.instance
  const other = await organizations.create({ name: "Other" })
  await sites.transfer(1, other.id, 1)
  const { sql } = await import("#plugin")
  const count = async (table: "integrations_reports" | "integrations_recipients") =>
    (await catalog.get<{ n: number }>(
      table === "integrations_reports"
        ? sql`select count(*) as n from integrations_reports`
        : sql`select count(*) as n from integrations_recipients`,
    ))!.n
  expect([await count("integrations_reports"), await count("integrations_recipients")]).toEqual([0, 0])
  expect(await catalog.get<{ n: number }>(sql`select count(*) as n from secrets where purpose = 'token'`)).toEqual({ n: 0 })
})
