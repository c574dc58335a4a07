import { expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { type Contribution, definePlugin, type Host, type ImportedVisit, NoQuery, Sent, sql } from "#plugin"
import { openMailbox, startInstance } from "#plugin/test"
import { TRAITS, type VisitTraits } from "../../src/domain/visit.ts"
import { notes } from "./notes.ts"

const made = "/api/private/sites/1/notes/made"

/** Creates a note with `host.create`. */
const creating = notes({}, ({ siteRouter, create, db }): Contribution => {
  const routes = siteRouter().post(
    "/notes/made",
    ({ site, ...call }) =>
      create<{ id: number }, object>(
        call,
        (body, alongside) =>
          db.transaction(async (statements) => {
            const text = JSON.stringify(body)
            const note = (await statements.get<{ id: number }>(
              sql`insert into notes_notes (site_id, text) values (${site.id}, ${text}) returning id`,
            ))!
            await alongside(statements, { after: note })
            return note
          }),
        ({ id }) => ({ location: `${made}/${id}`, etag: '"1"', body: { id } }),
      ),
    {
      can: "notes:write",
      query: NoQuery,
      body: Sent,
      response: { 201: t.Object({ id: t.Integer() }) },
      detail: { summary: "Make a note" },
    },
  )
  return { routes: [routes] }
})

test("creates a thing once per Idempotency-Key and repeats the answer", async () => {
  await using instance = await startInstance({ plugins: [creating] })
  const headers = { cookie: await instance.signIn({ role: "editor" }), "idempotency-key": "one" }
  const send = (body: object, more = {}) => instance.api.post(made, body, undefined, { ...headers, ...more })
  const first = await send({ text: "a" })
  expect(first).toMatchObject({ status: 201, body: { id: 1 } })
  expect([first.headers.get("location"), first.headers.get("etag")]).toEqual([`${made}/1`, '"1"'])
  const again = await send({ text: "a" })
  expect(again).toMatchObject({ status: 201, body: { id: 1 } })
  expect(again.headers.get("idempotency-replayed")).toBe("true")
  expect(await send({ text: "b" })).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } })
  expect(await send({ text: "b" }, { "idempotency-key": "two" })).toMatchObject({ status: 201, body: { id: 2 } })
})

test("imported visits are part of reports on their visible days, can be hidden and removed", async () => {
  let host: Host | undefined
  const plugin = notes({}, (given) => {
    host = given
    return {}
  })
  await using instance = await startInstance({ plugins: [plugin] })
  const { imports } = host!
  const traits = Object.fromEntries(TRAITS.map((name) => [name, ""])) as unknown as VisitTraits // every trait is named
  const at = Date.parse("2026-11-20T10:00:00Z")
  const event = { at, name: "pageview", page: "/old", hostname: "shop.example", title: "", interactive: true, props: [] }
  const visit = (visitor: string): ImportedVisit => ({ visitor, traits, day: "2026-11-20", events: [event] })
  await imports.addVisits({ siteId: 1, importId: 7 }, [visit("a"), visit("b")])
  const visitors = async () => {
    const { body } = await instance.api.get("/api/public/v1/sites/1/stats/summary?period=7d", instance.key)
    return (body as { metrics: { visitors: number } }).metrics.visitors
  }
  expect(await visitors()).toBe(0)
  const show = (shown: Parameters<typeof imports.show>[2]) =>
    host!.db.transaction(
      (statements) => imports.show(statements, 1, shown),
      (makeEffective) => makeEffective(),
    )
  const all = { id: 7, run: 1, timezone: "Europe/Berlin", days: [{ from: "2026-11-20", to: "2026-11-20" }] }
  await show([all])
  expect(await visitors()).toBe(2)
  await show([])
  expect(await visitors()).toBe(0)
  await show([{ id: 7, run: 1, timezone: "Europe/Berlin", days: [{ from: "2026-11-19", to: "2026-11-19" }] }])
  expect(await visitors()).toBe(0)
  await show([all])
  expect(await visitors()).toBe(2)
  await imports.drop(1, 7)
  expect(await visitors()).toBe(0)
})

test("seals a plugin's secrets for its own tables, so that only the plugin can open them", async () => {
  const hosts: Host[] = []
  const keeping = (id: string) =>
    definePlugin({
      id,
      title: id,
      setup: (host) => {
        hosts.push(host)
        return {}
      },
    })
  await using instance = await startInstance({ plugins: [keeping("first"), keeping("second")] })
  const [first, second] = hosts
  const place = { table: "first_hooks", row: 1, purpose: "signing" }
  const id = await first!.db.transaction((statements) => first!.secrets.put(statements, place, "sk_live_0123456789a1b2"))
  expect([await first!.secrets.open(id), await second!.secrets.open(id)]).toEqual(["sk_live_0123456789a1b2", undefined])
  expect(await first!.secrets.shown(id)).toMatchObject({ set: true, hint: "…a1b2" })
  const foreign = second!.db.transaction((statements) => second!.secrets.put(statements, place, "x"))
  await expect(foreign).rejects.toThrow("The plugin second seals a value for the table first_hooks")
  expect(instance.log.lines).toEqual([])
})

test("a plugin's outbound requests pass the guard", async () => {
  let host: Host | undefined
  const plugin = notes({}, (given) => {
    host = given
    return {}
  })
  await using instance = await startInstance({ plugins: [plugin] })
  expect(() => host!.outbound.check("http://hooks.example/")).toThrow("Requests to this address are not allowed.")
  await expect(host!.fetch("https://127.0.0.1/")).rejects.toMatchObject({ code: "blocked_address" })
  await using quiet = await startInstance({ plugins: [plugin], settings: { outbound: "off" } })
  await expect(host!.fetch("https://127.0.0.1/")).rejects.toMatchObject({ code: "outbound_disabled" })
  expect([host!.outbound.enabled, instance.app.instance.outbound.enabled, quiet.log.lines]).toEqual([false, true, []])
})

test.each([
  [
    "a migration with invalid SQL",
    { migrations: [{ name: "0001_x", sql: "create table notes_x (id integer, id text) strict" }] },
    /^The migration notes\/0001_x failed: .*duplicate column name: id/,
  ],
  [
    "a row migration with invalid SQL",
    { rowMigrations: [{ name: "0001_y", sql: "create index notes_y on notes_nothing (id)" }] },
    /^The migration notes\/0001_y failed: no such table: main.notes_nothing/,
  ],
  [
    "a setup that throws",
    {
      setup: () => {
        throw new Error("no wood")
      },
    },
    /^The plugin notes: setup failed: no wood$/,
  ],
])("%s prevents the start with one line and releases the data folder", async (_, more, message) => {
  const failure = await startInstance({ plugins: [notes(more)] }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: "ExitFault", exit: "configuration", message: expect.stringMatching(message) })
})

test("queues an email in the transaction of a change, and learns its outcome", async () => {
  await using mailbox = await openMailbox()
  let host: Host | undefined
  const outcomes: object[] = []
  const plugin = notes({}, (given) => {
    host = given
    return {
      async onEmailOutcome(statements, report) {
        await statements.run(sql`insert into notes_notes (site_id, text) values (1, ${report.outcome})`)
        outcomes.push(report)
      },
    }
  })
  await using instance = await startInstance({ plugins: [plugin], settings: mailbox.settings })
  const { mail, db } = host!
  const email = { to: "bob@example.org", subject: "News", text: "Hello", key: "note-1" }
  const refused = db.transaction(async (statements) => {
    await mail.post(statements, { ...email, text: "never sent" })
    throw new Error("no")
  })
  await expect(refused).rejects.toThrow("no")
  await db.transaction((statements) => mail.post(statements, email))
  await instance.app.instance.accounts.mail.deliver()
  expect(mailbox.emails.map(({ to }) => to)).toEqual(["bob@example.org"])
  expect(outcomes).toEqual([{ key: "note-1", outcome: "accepted" }])
  expect(await db.all(sql`select text from notes_notes`)).toEqual([{ text: "accepted" }])
})
