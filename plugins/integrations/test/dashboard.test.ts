import { expect, setDefaultTimeout, test } from "bun:test"
import { sql } from "#plugin"
import { openMailbox } from "#plugin/test"
import { dialogClosed, noBrowser, openSignedIn, overflow, settled, shown, tabTo, violations } from "#plugin/test/browser"
import type { AlertResponse } from "../alerts/responses.ts"
import integrations from "../integrations.ts"
import type { ReportResponse } from "../reports/responses.ts"
import { publisher, type Receiver, receiver } from "./kit.ts"
import { PAYMENT_INTENT, SECRETS, signatureOf, stripeEvent } from "./payments/providers.ts"

setDefaultTimeout(60_000)

const SITE = "/api/private/sites/1"

interface Looking {
  width?: number
  theme?: "light" | "dark"
  role?: "owner" | "admin" | "editor" | "viewer"
  settings?: Record<string, string>
}

/** Opens a browser on an instance that may call this receiver. */
const openStand = (target: Receiver, { settings = {}, ...looking }: Looking = {}) =>
  openSignedIn({
    ...looking,
    plugins: [integrations, publisher],
    settings: {
      allow_http_webhooks: "true",
      allow_private_webhooks: "127.0.0.0/8",
      outbound_ports: `80,443,${target.port}`,
      ...settings,
    },
  })

test.skipIf(noBrowser)("connects a chat after a test message, repairs it when the service no longer knows it, and deletes it", async () => {
  using target = receiver()
  await using stand = await openStand(target)
  const { page, open, ask, instance } = stand
  await open("/sites/1/integrations")
  await shown(page, "No chat service is connected.")
  await tabTo(page, "Connect Slack")
  await page.keyboard.press("Enter")
  await page.getByLabel("Webhook URL").fill(target.url("/services/refused-0001"))
  target.answers.push(403)
  await page.keyboard.press("Enter")
  await shown(page, "The service answered with status 403.")
  expect(((await ask("GET", "/integrations")).body as { data: unknown[] }).data).toEqual([])

  await page.getByLabel("Webhook URL").fill(target.url("/services/a-long-secret-0001"))
  await page.getByLabel("Name (optional)").fill("#alerts")
  await page.getByLabel("Goal completed").check()
  await page.getByRole("button", { name: "Connect Slack" }).last().click()
  await dialogClosed(page)
  const card = page.getByRole("listitem").filter({ hasText: "#alerts" })
  expect(await card.textContent()).toContain("Connected")
  const { data } = (await ask("GET", "/integrations")).body as { data: { account_label: string; config: { events: string[] } }[] }
  expect(data[0]!.config.events).toContain("goal.completed")
  expect(await card.textContent()).toContain(data[0]!.account_label)

  target.always = 404
  await instance.app.instance.outbox.writeAlone({ event: "import.failed", organizationId: 1, siteId: 1, payload: {} })
  await instance.runJobs()
  await instance.runJobs()
  await open("/sites/1/integrations")
  expect(await card.textContent()).toContain("Not working")
  await shown(page, "The service no longer knows this address or token. Connect it again.")
  target.always = 200
  await page.getByRole("button", { name: "Reconnect" }).click()
  await page.getByLabel("Webhook URL").fill(target.url("/services/a-new-secret-0002"))
  await page.getByRole("button", { name: "Save changes" }).click()
  await dialogClosed(page)
  await settled(page)
  expect(await card.textContent()).toContain("Connected")
  expect(target.received.at(-1)!.path).toBe("/services/a-new-secret-0002")

  await page.getByRole("link", { name: "#alerts" }).click()
  await page.getByRole("heading", { name: "#alerts", level: 1 }).waitFor()
  target.answers.push(500)
  await page.getByRole("button", { name: "Send test message" }).click()
  await shown(page, "The service answered with status 500.")
  await page.getByRole("button", { name: "Delete" }).click()
  const confirm = page.getByRole("button", { name: "Delete integration" })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel("Type #alerts to confirm").fill("#alerts")
  await confirm.click()
  await shown(page, "No chat service is connected.")
  expect(stand.faults.filter((fault) => !fault.includes("422"))).toEqual([])
})

test.skipIf(noBrowser)("creates a webhook, shows its secret once, and its log with the message as it was sent", async () => {
  using target = receiver()
  await using stand = await openStand(target)
  const { page, open, ask, instance } = stand
  await open("/sites/1/integrations/webhooks")
  await shown(page, "No webhooks yet.")
  await page.getByRole("button", { name: "Create your first webhook" }).click()
  await page.getByLabel("URL", { exact: true }).fill(target.url())
  await page.getByLabel("Description (optional)").fill("Orders")
  await page.getByLabel("Selected events").check()
  await page.getByLabel("Import failed").check()
  await page.getByRole("button", { name: "Create webhook" }).click()
  const secret = await page.getByRole("textbox", { name: "Signing secret" }).inputValue()
  expect(secret).toMatch(/^whsec_/)
  await page.getByRole("button", { name: "I've saved the secret" }).click()
  await dialogClosed(page)
  const [webhook] = ((await ask("GET", "/webhooks")).body as { data: { url: string; events: string[] }[] }).data
  expect(webhook!.events).toEqual(["import.failed"])

  await page.getByRole("link", { name: webhook!.url }).click()
  await shown(page, "Nothing has been sent yet.")
  target.answers.push(new Response("Over quota", { status: 500 }))
  await instance.app.instance.outbox.writeAlone({ event: "import.failed", organizationId: 1, siteId: 1, payload: {} })
  await instance.runJobs()
  await instance.runJobs()
  await open("/sites/1/integrations/webhooks/1")
  await page.getByRole("row", { name: /Failed, will be retried/ }).waitFor({ timeout: 10_000 })
  await page.getByRole("button", { name: "Details of delivery 1" }).click()
  await shown(page, "Over quota")
  const message = await page.getByRole("dialog").locator("pre").first().textContent()
  expect(JSON.parse(message!)).toEqual(JSON.parse(target.received[0]!.body))
  await page.getByRole("button", { name: "Redeliver" }).click()
  await dialogClosed(page)
  await instance.runJobs()
  await page.getByRole("row", { name: /Delivered/ }).waitFor({ timeout: 10_000 })
  expect(target.received).toHaveLength(2)
  expect(target.received[1]!.headers["webhook-id"]).toBe(target.received[0]!.headers["webhook-id"]!)

  const sendTestEvent = async () => {
    const answered = page.waitForResponse((response) => response.url().endsWith("/webhooks/1/test"))
    await page.getByRole("button", { name: "Send test event" }).click()
    await answered
  }
  await page.getByLabel("State").selectOption("dead")
  await shown(page, "No delivery is in this state.")
  await page.getByRole("button", { name: "Clear filter" }).click()
  await sendTestEvent()
  await instance.runJobs()
  await page.getByRole("row", { name: /ping/ }).filter({ hasText: "Delivered" }).waitFor({ timeout: 10_000 })

  await page.getByRole("button", { name: /^Actions for/ }).click()
  await page.getByRole("menuitem", { name: "Rotate secret" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click()
  const rotated = await page.getByRole("textbox", { name: "Signing secret" }).inputValue()
  expect(rotated).not.toBe(secret)
  await page.getByRole("button", { name: "I've saved the secret" }).click()

  // A receiver that is gone disables the webhook, and the page says so.
  target.always = 410
  await sendTestEvent()
  await instance.runJobs()
  await open("/sites/1/integrations/webhooks/1")
  await shown(page, /status 410/)
  target.always = 200
  await page.getByRole("button", { name: "Turn on webhook" }).click()
  await page.getByRole("button", { name: "Turn on webhook" }).waitFor({ state: "detached" })
  await shown(page, "Active")
  expect(stand.faults).toEqual([])
})

test.skipIf(noBrowser)("creates a payment hook before its secret is known, and shows the event that the provider sent", async () => {
  using target = receiver()
  await using stand = await openStand(target)
  const { page, open, ask, instance } = stand
  await open("/sites/1/integrations/payments")
  await page.getByRole("button", { name: "Create your first payment hook" }).click()
  await tabTo(page, "Create URL")
  await page.keyboard.press("Enter")
  const url = await page.getByRole("textbox", { name: "URL" }).inputValue()
  await shown(page, "charge.dispute.closed")
  await page.getByRole("button", { name: "Enter it later" }).click()
  await page.getByRole("row", { name: /Signing secret missing/ }).waitFor()

  await page.getByRole("button", { name: "Actions for Stripe" }).click()
  await page.getByRole("menuitem", { name: "Enter signing secret" }).click()
  await page.getByRole("textbox", { name: "Signing secret" }).fill(SECRETS.stripe)
  await page.getByRole("button", { name: "Save secret" }).click()
  await dialogClosed(page)
  await page.getByRole("row", { name: /Waiting for the first event/ }).waitFor()
  const body = JSON.stringify(stripeEvent("payment_intent.succeeded", PAYMENT_INTENT))
  const signature = signatureOf("stripe", body, { at: instance.clock.now() })
  expect((await instance.api.post(new URL(url).pathname, body, undefined, signature)).status).toBe(200)
  await open("/sites/1/integrations/payments")
  const [hook] = ((await ask("GET", "/integrations/hooks")).body as { data: { last_event: { result: string } }[] }).data
  expect(hook!.last_event.result).toBe("published")
  await page.getByRole("row", { name: /Receiving.*recorded/ }).waitFor()

  await page.getByRole("button", { name: "Actions for Stripe" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByLabel("Type Stripe to confirm").fill("Stripe")
  await page.getByRole("button", { name: "Delete payment hook" }).click()
  await shown(page, "No payment hooks yet.")
  expect(stand.faults).toEqual([])
})

test.skipIf(noBrowser)("edits a report with a preview, sends it, and shows who has unsubscribed", async () => {
  using target = receiver()
  await using mailbox = await openMailbox()
  await using stand = await openStand(target, { settings: mailbox.settings })
  const { page, open, ask, instance } = stand
  await open("/sites/1/email-reports")
  await page.getByRole("button", { name: "New report" }).click()
  await page.getByLabel("Recipients").fill("ada@reader.example\nnot-an-address")
  const preview = (await ask("GET", "/reports/preview?kind=weekly")).body as { subject: string }
  await shown(page, preview.subject)
  await page.getByRole("button", { name: "Create report" }).click()
  await shown(page, /^not-an-address: /)
  await page.getByLabel("Recipients").fill("ada@reader.example\nben@reader.example")
  await page.getByLabel("Revenue").uncheck()
  await page.getByRole("button", { name: "Create report" }).click()
  await dialogClosed(page)
  const read = async () => ((await ask("GET", "/reports")).body as { data: ReportResponse[] }).data[0]!
  expect((await read()).recipients).toEqual(["ada@reader.example", "ben@reader.example"])
  expect((await read()).sections).not.toContain("revenue")
  const row = page.getByRole("row", { name: /Weekly report/ })
  expect(await row.textContent()).toContain("Every Monday at 07:00")

  await page.getByRole("button", { name: "Actions for Weekly report 1" }).click()
  await page.getByRole("menuitem", { name: "Send now" }).click()
  await shown(page, "2 emails queued")
  await instance.runJobs()
  await instance.app.instance.accounts.mail.settled()
  expect(mailbox.emails.map(({ to }) => to).sort()).toEqual(["ada@reader.example", "ben@reader.example"])
  const link = /\/unsubscribe\/[\w-]+/.exec(mailbox.emails.find(({ to }) => to === "ben@reader.example")!.text)![0]
  await stand.context.request.post(stand.stand.origin + link, { form: { "List-Unsubscribe": "One-Click" } })
  await open("/sites/1/email-reports")
  expect((await read()).recipient_states.map(({ state }) => state)).toEqual(["active", "unsubscribed"])
  expect(await row.textContent()).toContain("ben@reader.example unsubscribed")
  await page.getByRole("button", { name: "Actions for Weekly report 1" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByRole("button", { name: "Delete report" }).click()
  await shown(page, "No reports yet.")
  expect(stand.faults.filter((fault) => !fault.includes("422"))).toEqual([])
})

test.skipIf(noBrowser)("a viewer subscribes to a report and sees only their own subscription", async () => {
  using target = receiver()
  await using mailbox = await openMailbox()
  await using stand = await openStand(target, { role: "viewer", settings: mailbox.settings })
  const { page, open, ask, instance } = stand
  await instance.app.instance.catalog.run(sql`update users set email_verified_at = ${instance.clock.now()}`)
  await open("/sites/1/email-reports")
  await page.getByRole("button", { name: "Subscribe" }).click()
  await page.getByLabel("Sent", { exact: true }).selectOption("daily")
  expect(await page.getByLabel("Recipients").count()).toBe(0)
  await page.getByRole("button", { name: "Create report" }).click()
  await dialogClosed(page)
  await page.getByRole("row", { name: /Daily report/ }).waitFor()
  const { data } = (await ask("GET", "/reports")).body as { data: ReportResponse[] }
  expect(data.map(({ kind, recipients }) => ({ kind, count: recipients.length }))).toEqual([{ kind: "daily", count: 1 }])
  expect(await page.getByRole("row", { name: /Daily report/ }).textContent()).toContain(data[0]!.recipients[0]!)
  expect(stand.faults).toEqual([])
})

test.skipIf(noBrowser)("creates an alert in plain sentences, tests its channels and shows that it fires", async () => {
  using target = receiver()
  await using mailbox = await openMailbox()
  await using stand = await openStand(target, { settings: mailbox.settings })
  const { page, open, ask, instance } = stand
  await ask("POST", "/integrations/slack/connect", { url: target.url("/services/a-long-secret-0001"), name: "#alerts" })
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "signup" })
  await open("/sites/1/integrations/alerts")
  await page.getByRole("button", { name: "Create your first alert" }).click()
  await page.getByLabel("Goal reached").check()
  await page.getByRole("button", { name: "Create alert" }).click()
  await shown(page, "Is required")
  await page.getByLabel("Goal", { exact: true }).selectOption({ index: 1 })
  await page.getByLabel("Conversions").fill("2")
  await page.getByLabel("Within").selectOption("120")
  await shown(page, /2 conversions or more of signup within 2 hours/)
  await page.getByLabel("Email addresses").fill("stranger@elsewhere.example")
  await page.getByLabel("#alerts").check()
  await page.getByRole("button", { name: "Create alert" }).click()
  await shown(page, /^stranger@elsewhere.example: /)
  await page.getByLabel("Email addresses").fill("")
  await page.getByRole("button", { name: "Create alert" }).click()
  await dialogClosed(page)
  const read = async () => ((await ask("GET", "/alerts")).body as { data: AlertResponse[] }).data[0]!
  const { id } = ((await ask("GET", "/integrations")).body as { data: { id: number }[] }).data[0]!
  expect(await read()).toMatchObject({
    ...{ type: "goal", threshold: 2, window_minutes: 120, goal_id: 1 },
    channels: [{ type: "connection", integration_id: id }],
  })
  const row = page.getByRole("row", { name: /Goal reached/ })
  expect(await row.textContent()).toContain("2 conversions or more of signup within 2 hours")
  expect(await row.textContent()).toContain("#alerts")

  const before = target.received.length
  await page.getByRole("button", { name: "Actions for Goal reached 1" }).click()
  await page.getByRole("menuitem", { name: "Send test message" }).click()
  await page.getByRole("heading", { name: "The test succeeded" }).waitFor()
  expect(target.received.length).toBe(before + 1)
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click()
  await page.getByRole("button", { name: "Actions for Goal reached 1" }).click()
  await page.getByRole("menuitem", { name: "Edit" }).click()
  await page.getByLabel("Conversions").fill("3")
  await page.getByRole("button", { name: "Save changes" }).click()
  await dialogClosed(page)
  expect((await read()).threshold).toBe(3)
  await page.getByRole("button", { name: "Actions for Goal reached 1" }).click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.getByRole("button", { name: "Delete alert" }).click()
  await shown(page, "No alerts yet.")
  expect(stand.faults.filter((fault) => !fault.includes("422"))).toEqual([])
})

test.skipIf(noBrowser)("names the setting while outgoing requests are off, and offers nothing to a user who can only read", async () => {
  using target = receiver()
  {
    await using stand = await openStand(target, { settings: { outbound: "off" } })
    await stand.open("/sites/1/integrations")
    await shown(stand.page, /FOOTFALL_OUTBOUND/)
    expect(await stand.page.getByRole("button", { name: "Connect Slack" }).isDisabled()).toBe(true)
  }
  await using stand = await openStand(target, { role: "editor" })
  await stand.open("/sites/1/integrations")
  await shown(stand.page, "No chat service is connected.")
  expect(await stand.page.getByRole("button", { name: /^Connect/ }).count()).toBe(0)
  expect(await stand.page.getByRole("link", { name: "Webhooks" }).count()).toBe(0)
  await stand.open("/sites/1/integrations/webhooks")
  await shown(stand.page, /You need the permission to manage webhooks/)
})

test.skipIf(noBrowser)("each card fails alone, and asks again", async () => {
  using target = receiver()
  await using stand = await openStand(target)
  const { page, open, context } = stand
  const failing = new Set(["/webhooks", "/reports", "/alerts", "/integrations/hooks", "/integrations"])
  await context.route(/\/api\/private\/sites\/1\//, (route) => {
    const path = new URL(route.request().url()).pathname.slice(SITE.length)
    const problem = { code: "internal_error", detail: `The route ${path} failed.`, request_id: "request-1" }
    return failing.has(path) ? route.fulfill({ status: 500, json: problem }) : route.continue()
  })
  for (const [path, route] of [
    ["/integrations", "/integrations"],
    ["/integrations/webhooks", "/webhooks"],
    ["/integrations/alerts", "/alerts"],
    ["/integrations/payments", "/integrations/hooks"],
    ["/email-reports", "/reports"],
  ] as const) {
    failing.add(route)
    await page.goto(`${stand.stand.origin}/sites/1${path}`)
    await page.getByRole("alert").getByText(`The route ${route} failed.`).waitFor()
    await page.getByText("Request request-1").waitFor()
    failing.delete(route)
    await page.getByRole("button", { name: "Try again" }).click()
    // Cards of other routes may fail now.
    await page.getByText(`The route ${route} failed.`).waitFor({ state: "detached" })
  }
  failing.add("/webhooks")
  await page.goto(`${stand.stand.origin}/sites/1/integrations`)
  await page.getByRole("alert").waitFor()
  expect(await page.getByRole("alert").count()).toBe(1)
  await shown(page, "Payment hooks")
  failing.clear()
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("alert").waitFor({ state: "detached" })
  await open("/sites/1/integrations")
})

test.skipIf(noBrowser)("a viewer is refused the integrations and reads the searches", async () => {
  using target = receiver()
  await using stand = await openStand(target, { role: "viewer" })
  const { page, open } = stand
  for (const path of ["", "/webhooks", "/alerts", "/payments", "/connections/1"]) {
    await open(`/sites/1/integrations${path}`)
    await shown(page, "You need the permission to open Integrations.")
  }
  expect(await page.getByRole("navigation", { name: "Site" }).getByRole("link", { name: "Integrations" }).count()).toBe(0)
  await page.getByRole("link", { name: "Search queries" }).click()
  await shown(page, "No search engine is connected.")
  expect(await page.getByRole("link", { name: "Connect a search engine" }).count()).toBe(0)
})

test.skipIf(noBrowser).each([
  [1280, "light"],
  [375, "dark"],
] as const)("%i px, %s: dialogs and states have no accessibility violation and no overflow", async (width, theme) => {
  using target = receiver()
  await using mailbox = await openMailbox()
  await using stand = await openStand(target, { width, theme, settings: mailbox.settings })
  const { page, open, ask } = stand
  const check = async (what: string) => {
    const shot = process.env.SHOTS
    if (shot) await page.screenshot({ path: `${shot}/${what.replaceAll(/\W+/g, "-")}-${width}.png`, fullPage: !what.includes("dialog") })
    expect({ what, found: await violations(page), beside: await overflow(page) }).toEqual({ what, found: [], beside: 0 })
  }
  await open("/sites/1/integrations")
  await check("empty")
  await page.getByRole("button", { name: "Connect Telegram" }).click()
  await page.getByLabel("Bot token").waitFor()
  await check("chat dialog")
  target.answers.push(200, 404)
  await ask("POST", "/integrations/slack/connect", { url: target.url("/services/a-long-secret-0001"), name: "#alerts" })
  await ask("POST", "/integrations/discord/connect", { url: target.url("/discord/a-long-secret-0001"), name: "Discord" })
  await ask("POST", "/webhooks", { url: target.url(), events: ["*"], description: "Orders" })
  await ask("POST", "/webhooks", { url: target.url("/gone/a-long-secret-path-0002"), events: ["site.updated"] })
  await ask("POST", "/webhooks/1/test")
  await stand.instance.runJobs()
  target.always = 410
  await ask("POST", "/webhooks/2/test")
  await stand.instance.runJobs()
  target.always = 404
  await stand.instance.app.instance.outbox.writeAlone({ event: "import.failed", organizationId: 1, siteId: 1, payload: {} })
  await stand.instance.runJobs()
  await stand.instance.runJobs()
  await open("/sites/1/integrations")
  await check("connected")
  await open("/sites/1/integrations/connections/1")
  await page.getByRole("button", { name: "Send test message" }).click()
  await shown(page, "The test failed")
  await check("connection with a failed test")
  await open("/sites/1/email-reports")
  await check("no reports")
  await ask("POST", "/reports", {
    kind: "weekly",
    recipients: ["ada@reader.example", "ben@reader.example", "cy@reader.example", "di@reader.example"],
  })
  await ask("POST", "/reports", { kind: "daily", channel: "chat", enabled: false })
  await open("/sites/1/email-reports")
  await check("reports")
  await page.getByRole("button", { name: "New report" }).click()
  await page.getByRole("heading", { name: "Preview" }).waitFor()
  await settled(page)
  await check("report dialog")
  await open("/sites/1/integrations/alerts")
  await check("no alerts")
  await ask("POST", "/alerts", { type: "spike", factor: 3, channels: [{ type: "connection", integration_id: 1 }] })
  await ask("POST", "/alerts", { type: "no_data" })
  await ask("POST", "/alerts", { type: "not_found", enabled: false })
  await open("/sites/1/integrations/alerts")
  await check("alerts")
  await page.getByRole("button", { name: "New alert" }).click()
  await page.getByLabel("Traffic drop").check()
  await check("alert dialog")
  await ask("POST", "/integrations/hooks", { kind: "shopify" })
  await ask("POST", "/integrations/hooks", { kind: "paddle", signing_secret: SECRETS.paddle })
  await open("/sites/1/integrations/payments")
  await check("payment hooks")
  await page.getByRole("button", { name: "New payment hook" }).click()
  await check("provider dialog")
  await page.getByRole("button", { name: "Create URL" }).click()
  await page.getByRole("textbox", { name: "URL" }).waitFor()
  await check("payment URL dialog")
  await open("/sites/1/integrations/webhooks")
  await check("webhooks")
  await page.getByRole("button", { name: "New webhook" }).click()
  await page.getByLabel("Selected events").check()
  await check("webhook dialog")
  await open("/sites/1/integrations/webhooks/1")
  await check("webhook")
  await page
    .getByRole("button", { name: /Details of delivery/ })
    .first()
    .click()
  await page.getByRole("heading", { name: "Message" }).waitFor()
  await check("delivery dialog")
  await open("/sites/1/integrations/webhooks/2")
  await check("disabled webhook")
})
