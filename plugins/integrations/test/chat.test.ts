import { describe, expect, test } from "bun:test"
import { sql } from "#plugin"
import { HAS_CATALOG_SERVER } from "#plugin/test"
import { type Receiver, receiver, SITE, type Stand, stand } from "./kit.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"

/** Every kind, with the body that connects it to a receiver. */
const KINDS = ["slack", "discord", "teams", "mattermost", "ntfy", "telegram"] as const
const connectBody = (kind: string, chat: Receiver): object =>
  kind === "telegram"
    ? { api_key: TOKEN, config: { chat_id: "-1001234567890" } }
    : { url: chat.url(kind === "ntfy" ? "/base/my-topic" : "/services/T0123456789/B0123456789") }

const start = (chat: Receiver): Promise<Stand> => stand([chat], { settings: { telegram_api_base: chat.url("/telegram") } })

async function connect(world: Stand, kind: string, chat: Receiver, more: object = {}) {
  const answer = await world.ask("POST", `/integrations/${kind}/connect`, { ...connectBody(kind, chat), ...more })
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

const hostile = `<script>alert(1)</script> <!channel> @everyone *bold* [a](http://x) \u202e\u0000 & "q"`
const failed = (error: string) => ({
  import_id: 1,
  source: "csv",
  label: hostile,
  state: "failed",
  date_start: null,
  date_end: null,
  error,
})

describe.each(KINDS)("%s", (kind) => {
  test("is connected by a test message, and receives events in its own form with all texts escaped", async () => {
    using chat = receiver()
    await using world = await start(chat)
    const made = await connect(world, kind, chat)
    expect(made).toMatchObject({
      id: 1,
      kind,
      category: "chat",
      status: "ok",
      connected: true,
      can_manage: true,
      scope: "site",
      version: 1,
    })
    expect(JSON.stringify(chat.received[0])).toContain("Footfall is connected")
    await world.publish("import.failed", failed("broken_file"))
    await world.work()
    expect(chat.received).toHaveLength(2)
    const { path, body, headers } = chat.received[1]!
    expect(headers["content-type"]).toBe("application/json")
    expect({ path, body: JSON.parse(body) }).toEqual(EXPECTED[kind]!)
  })
})

const IMPORT = `<script>alert(1)</script> <!channel> @everyone *bold* [a](http://x) & "q"`
const ESCAPED = `&lt;script&gt;alert(1)&lt;/script&gt; &lt;!channel&gt; @everyone *bold* [a](http://x) &amp; "q"`
const MARKDOWN = `&lt;script\\>alert\\(1\\)&lt;/script\\> &lt;\\!channel\\> @\u200beveryone \\*bold\\* \\[a\\]\\(http\\://x\\) & "q"`
const LINK = "http://localhost:8080/sites/1"
const run = (text: string, more: object = {}) => ({ type: "TextRun", text, ...more })
const bold = { weight: "Bolder" }
const fact = (label: string, value: string) => ({
  type: "RichTextBlock",
  inlines: [run(`${label}: `, bold), run(value)],
  spacing: "Small",
})
const EXPECTED: Record<string, { path: string; body: object }> = {
  slack: {
    path: "/services/T0123456789/B0123456789",
    body: {
      text: `Import failed: Shop · Import: ${ESCAPED} · Source: csv · Error: broken_file`,
      blocks: [
        {
          type: "section",
          text: { type: "mrkdwn", text: "*Import failed: Shop*" },
          fields: [
            { type: "mrkdwn", text: `*Import*\n${ESCAPED}` },
            { type: "mrkdwn", text: "*Source*\ncsv" },
            { type: "mrkdwn", text: "*Error*\nbroken_file" },
          ],
        },
        { type: "context", elements: [{ type: "mrkdwn", text: `<${LINK}|Open Footfall>` }] },
      ],
      unfurl_links: false,
    },
  },
  discord: {
    path: "/services/T0123456789/B0123456789",
    body: {
      embeds: [
        {
          title: "Import failed\\: Shop",
          url: LINK,
          fields: [
            { name: "Import", value: MARKDOWN, inline: true },
            { name: "Source", value: "csv", inline: true },
            { name: "Error", value: "broken\\_file", inline: true },
          ],
        },
      ],
      allowed_mentions: { parse: [] },
    },
  },
  teams: {
    path: "/services/T0123456789/B0123456789",
    body: {
      type: "message",
      attachments: [
        {
          contentType: "application/vnd.microsoft.card.adaptive",
          contentUrl: null,
          content: {
            $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
            type: "AdaptiveCard",
            version: "1.4",
            body: [
              { type: "RichTextBlock", inlines: [run("Import failed: Shop", { ...bold, size: "Medium" })] },
              fact("Import", IMPORT),
              fact("Source", "csv"),
              fact("Error", "broken_file"),
            ],
            actions: [{ type: "Action.OpenUrl", title: "Open Footfall", url: LINK }],
          },
        },
      ],
    },
  },
  mattermost: {
    path: "/services/T0123456789/B0123456789",
    body: {
      text: `**Import failed\\: Shop**\nImport: ${MARKDOWN}\nSource: csv\nError: broken\\_file\n[Open Footfall](${LINK})`,
    },
  },
  ntfy: {
    path: "/base/",
    body: {
      topic: "my-topic",
      title: "Import failed: Shop",
      message: `Import: ${IMPORT}\nSource: csv\nError: broken_file`,
      click: LINK,
    },
  },
  telegram: {
    path: `/telegram/bot${TOKEN}/sendMessage`,
    body: {
      chat_id: "-1001234567890",
      text: `<b>Import failed: Shop</b>\nImport: ${ESCAPED}\nSource: csv\nError: broken_file\n${LINK}`,
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
    },
  },
}

test("cuts a text at 200 characters, whatever it consists of", async () => {
  using chat = receiver()
  await using world = await start(chat)
  await connect(world, "ntfy", chat)
  await world.publish("import.failed", { ...failed("x"), label: `${"🦊".repeat(150)}\n${"y".repeat(150)}` })
  await world.work()
  const [line] = JSON.parse(chat.received[1]!.body).message.split("\n")
  expect(line).toBe(`Import: ${"🦊".repeat(150)} ${"y".repeat(48)}…`)
})

test("receives the events of its site or organization that it has chosen; by default all but goal.completed", async () => {
  using chat = receiver()
  await using world = await start(chat)
  const second = await world.instance.app.instance.sites.create(1, { name: "Blog", hosts: ["blog.example"] })
  const plain = await connect(world, "slack", chat, { url: chat.url("/site-default") })
  await connect(world, "slack", chat, { url: chat.url("/site-goals"), config: { events: ["goal.completed"] } })
  await connect(world, "slack", chat, { url: chat.url("/organization"), scope: "organization" })
  const traffic = ["spike", "drop", "stopped", "goal", "not_found", "resolved"].map((name) => `traffic.${name}`)
  expect(plain.config.events).toEqual([...traffic, "report.ready", "import.failed", "backup.failed"])
  const seen = async (event: string, siteId: number | null) => {
    const before = chat.received.length
    await world.publish(event, { name: "Sign-up", conversions: 3, step: "copy", cause: "disk" }, siteId)
    await world.work()
    return chat.received
      .slice(before)
      .map(({ path }) => path.slice(1))
      .toSorted()
  }
  expect(await seen("goal.completed", 1)).toEqual(["site-goals"])
  expect(await seen("backup.failed", null)).toEqual(["organization"])
  expect(await seen("backup.failed", second.id)).toEqual(["organization"])
  expect(await seen("backup.failed", 1)).toEqual(["organization", "site-default"])
  expect(await seen("goal.created", 1)).toEqual([])
})

describe("a message that fails", () => {
  test("is sent again after 30 s, 2 min and 10 min, while the connection is degraded", async () => {
    using chat = receiver()
    await using world = await start(chat)
    const { id } = await connect(world, "slack", chat)
    const show = async () => (await world.ask("GET", `/integrations/${id}`)).body
    chat.answers.push(500, 429, 503)
    await world.publish("backup.failed", { step: "copy", cause: "disk" })
    await world.work()
    expect(await show()).toMatchObject({
      status: "degraded",
      connected: true,
      last_error: { code: "rejected", at: "2026-11-21T12:00:00Z" },
    })
    await world.after(31_000)
    await world.after(2 * MINUTE)
    expect(chat.received).toHaveLength(4)
    await world.after(10 * MINUTE)
    expect(chat.received).toHaveLength(5)
    expect(await show()).toMatchObject({ status: "ok", last_error: null, last_ok_at: "2026-11-21T12:12:31Z" })
  })

  test.each([404, 410, 403])("with status %p ends the attempts, with one event and one email", async (status) => {
    using chat = receiver()
    await using world = await start(chat)
    const { id } = await connect(world, "slack", chat)
    await world.as({ role: "editor" })
    chat.always = status
    for (let i = 0; i < 2; i++) await world.publish("backup.failed", { step: "copy", cause: "disk" })
    await world.work()
    await world.after(24 * HOUR)
    expect(chat.received).toHaveLength(3)
    expect((await world.ask("GET", `/integrations/${id}`)).body).toMatchObject({
      status: "error",
      connected: false,
      last_error: { code: "removed", message: "The service no longer knows this address or token. Connect it again." },
    })
    const events = await world.instance.app.instance.catalog.all(
      sql`select payload_json from outbox where event = 'integration.needs_reauth'`,
    )
    expect(events).toEqual([{ payload_json: `{"integration_id":${id},"provider":"slack","status":"error","code":"removed"}` }])
    await world.instance.app.instance.accounts.mail.deliver()
    expect(world.emails).toHaveLength(1)
    // A new URL is tested, and repairs the connection.
    chat.always = 200
    expect((await world.ask("PATCH", `/integrations/${id}`, { url: chat.url("/new") })).body).toMatchObject({
      status: "ok",
      last_error: null,
    })
  })

  test("does not follow a redirect", async () => {
    using chat = receiver()
    await using world = await start(chat)
    chat.always = () => new Response(null, { status: 302, headers: { location: "/elsewhere" } })
    const refused = await world.ask("POST", "/integrations/slack/connect", connectBody("slack", chat))
    expect(refused).toMatchObject({ status: 422, body: { code: "connection_failed", steps: [{ name: "message", ok: false }] } })
    expect(chat.received.map(({ path }) => path)).toEqual(["/services/T0123456789/B0123456789"])
  })
})

describe("the routes", () => {
  test.each<[string, string, object, string]>([
    ["no URL", "slack", {}, "validation_failed"],
    ["a token instead of a URL", "slack", { api_key: TOKEN }, "validation_failed"],
    ["a text that is no URL", "slack", { url: "hooks.slack.com" }, "validation_failed"],
    ["credentials in the URL", "discord", { url: "https://a:b@hooks.example/" }, "blocked_address"],
    ["a local address", "teams", { url: "https://[::1]/hook" }, "blocked_address"],
    ["an address that does not answer", "mattermost", { url: "https://127.0.0.2/hook" }, "connection_failed"],
    ["a private address", "mattermost", { url: "https://192.168.1.5/hook" }, "blocked_address"],
    ["a topic with a slash", "ntfy", { url: "https://ntfy.example/" }, "validation_failed"],
    ["no token", "telegram", { config: { chat_id: "1" } }, "validation_failed"],
    ["a token that would change the URL", "telegram", { api_key: `${TOKEN}/../x`, config: { chat_id: "1" } }, "validation_failed"],
    ["no chat", "telegram", { api_key: TOKEN }, "validation_failed"],
    ["an invalid chat id", "telegram", { api_key: TOKEN, config: { chat_id: "the team" } }, "validation_failed"],
    ["a chat id for another kind", "slack", { url: "https://hooks.example/", config: { chat_id: "1" } }, "validation_failed"],
    ["an unknown setting", "slack", { url: "https://hooks.example/", config: { template: "x" } }, "validation_failed"],
    [
      "an event that chats don't receive",
      "slack",
      { url: "https://hooks.example/", config: { events: ["goal.created"] } },
      "validation_failed",
    ],
    ["a line break in its name", "slack", { url: "https://hooks.example/", name: "a\nb" }, "validation_failed"],
    ["an unknown scope", "slack", { url: "https://hooks.example/", scope: "all" }, "validation_failed"],
  ])("refuse %s", async (_, kind, body, code) => {
    const { ask } = await shared()
    expect(await ask("POST", `/integrations/${kind}/connect`, body)).toMatchObject({ status: 422, body: { code } })
    expect((await ask("GET", "/integrations")).body.data).toEqual([])
  })

  test("list what can be connected, for editors too, and the site's view of what belongs to the organization", async () => {
    using chat = receiver()
    await using world = await start(chat)
    await connect(world, "slack", chat, { scope: "organization" })
    await connect(world, "ntfy", chat, { name: "Phones" })
    const editor = await world.as({ role: "editor" })
    const siteAdmin = await world.as({ role: "viewer", siteRole: "admin" })
    const { status, body } = await editor("GET", "/integrations")
    expect(status).toBe(200)
    const chats = body.available.filter(({ category }: { category: string }) => category === "chat")
    expect(chats.map(({ kind }: { kind: string }) => kind)).toEqual([...KINDS])
    expect(body.data).toMatchObject([
      { name: "Slack", scope: "organization", can_manage: false, account_label: `127.0.0.1:${chat.port}/…6789` },
      { name: "Phones", scope: "site", can_manage: false },
    ])
    const seen = (await siteAdmin("GET", "/integrations")).body.data
    expect(seen.map(({ can_manage }: { can_manage: boolean }) => can_manage)).toEqual([false, true])
    expect((await editor("PATCH", "/integrations/2", { name: "x" })).status).toBe(403)
    for (const [method, path] of [
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/test"],
    ] as const)
      expect(await siteAdmin(method, `/integrations/1${path}`, method === "PATCH" ? { name: "x" } : undefined)).toMatchObject({
        status: 403,
      })
    expect((await siteAdmin("POST", "/integrations/slack/connect", { ...connectBody("slack", chat), scope: "organization" })).status).toBe(
      403,
    )
    expect(await siteAdmin("POST", "/integrations/2/test")).toMatchObject({ status: 200, body: { ok: true, steps: [{ ok: true }] } })
    expect((await (await world.as({ role: "viewer" }))("GET", "/integrations")).status).toBe(403)
  })

  test("keep versions, settings that a patch does not name, and accept the body of a GET", async () => {
    using chat = receiver()
    await using world = await start(chat)
    const { id } = await connect(world, "telegram", chat)
    const { body } = await world.ask("GET", `/integrations/${id}`)
    expect(body).toMatchObject({
      account_label: "bot 123456789",
      secret: { set: true, hint: "…Dsaw" },
      config: { chat_id: "-1001234567890" },
    })
    expect((await world.ask("PATCH", `/integrations/${id}`, { ...body, name: "Team" })).body).toMatchObject({ name: "Team", version: 2 })
    const changed = await world.ask("PATCH", `/integrations/${id}`, { config: { events: ["goal.completed"] }, version: 2 })
    expect(changed.body.config).toEqual({ chat_id: "-1001234567890", events: ["goal.completed"] })
    expect(await world.ask("PATCH", `/integrations/${id}`, { name: "x", version: 1 })).toMatchObject({
      status: 409,
      body: { current: { version: 3 } },
    })
    expect((await world.ask("DELETE", `/integrations/${id}`, undefined, { "if-match": '"1"' })).status).toBe(412)
    expect((await world.ask("DELETE", `/integrations/${id}`)).status).toBe(204)
    expect((await world.ask("GET", `/integrations/${id}`)).status).toBe(404)
    expect(await world.instance.app.instance.catalog.all(sql`select id from secrets`)).toEqual([])
  })

  test("describe every event as a JSON Schema that its messages fulfil", async () => {
    using hook = receiver()
    await using world = await start(hook)
    const { cookie } = { cookie: await world.instance.signIn({ role: "viewer" }) }
    const answer = await world.instance.api.get("/api/private/integrations/events", undefined, { cookie })
    const { data } = answer.body as { data: { event: string; only_by_name: boolean; schema: object }[] }
    expect(answer.status).toBe(200)
    const known = Object.fromEntries(data.map(({ event, only_by_name }) => [event, only_by_name]))
    expect(known).toMatchObject({ "site.created": false, "goal.completed": true, "integration.needs_reauth": false, ping: true })
    expect(Object.keys(known).filter((name) => name.startsWith("internal."))).toEqual([])
    const { Ajv } = await import("ajv")
    const { default: formats } = await import("ajv-formats")
    const ajv = new Ajv({ strict: false })
    formats.default(ajv)
    const { id } = await world.webhook(hook.url(), { scope: "organization" })
    await world.ask("POST", `/webhooks/${id}/test`)
    const v1 = "/api/public/v1/sites"
    await world.instance.api.post(`${v1}/1/goals`, { kind: "event", value: "signup" }, world.instance.key)
    await world.instance.api.send("PATCH", `${v1}/1`, { name: "Store" }, world.instance.key)
    await world.work()
    const bodies = hook.received.map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ type }) => type)).toEqual(["ping", "goal.created", "site.updated"])
    for (const body of bodies) {
      const { schema } = data.find(({ event }) => event === body.type)!
      expect(ajv.validate(schema, body)).toBe(true)
      expect(ajv.validate(schema, { ...body, data: 1 })).toBe(false)
    }
  })
})

let idle: Promise<Stand> | undefined
/** An instance for refusals, which leave nothing behind. */
const shared = (): Promise<Stand> => (idle ??= stand([]))

test("no URL and no token is in an answer, the log, the audit log or a file", async () => {
  using chat = receiver()
  await using world = await start(chat)
  await connect(world, "slack", chat, { url: chat.url("/services/HQSECRETPATH/HQSECRETPATH") })
  await connect(world, "telegram", chat)
  chat.always = 500
  await world.ask("POST", "/integrations/2/test")
  await world.publish("backup.failed", { step: "copy", cause: "disk" })
  await world.work()
  const { catalog } = world.instance.app.instance
  const seen = [
    (await world.ask("GET", "/integrations")).body,
    world.instance.log.lines,
    await catalog.all(sql`select * from audit_log`),
    await catalog.all(sql`select * from jobs`),
  ]
  const texts = [Buffer.from(JSON.stringify(seen))]
  // A catalog on a server has its files there.
  if (!HAS_CATALOG_SERVER) {
    await catalog.copyTo(`${world.instance.dataDir}/copy.db`)
    texts.push(Buffer.from(await Bun.file(`${world.instance.dataDir}/copy.db`).arrayBuffer()))
  }
  for (const text of texts) for (const hidden of ["HQSECRETPATH", TOKEN]) expect(text.includes(hidden)).toBe(false)
  expect(SITE).toContain("/sites/1")
})
