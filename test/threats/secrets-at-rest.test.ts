import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { HOOK_KINDS } from "../../plugins/integrations/payments/hook.ts"
import { receiver } from "../../plugins/integrations/test/kit.ts"
import { PAYMENT_INTENT, SECRETS, signatureOf, stripeEvent } from "../../plugins/integrations/test/payments/providers.ts"
import { google } from "../fakes/google.ts"
import { type Answer, startInstance } from "../kit.ts"
import { openMailbox } from "../mailbox.ts"

/** Threat `secrets-at-rest`: no secret that people or services entrust to an instance can be read in its files or its log. */

const READ = "https://www.googleapis.com/auth/webmasters.readonly"
const BACK = "https://stats.example.org/api/private/integrations/oauth/callback"
const SITE = "/api/private/sites/1"

/** Returns a secret as files may spell it. */
const spellings = (secret: string): Buffer[] =>
  [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    // Base64 of a text depends on its position: the middle of each of the three is the same wherever it stands.
    ...[0, 1, 2].map((shift) => Buffer.from(secret).subarray(shift).toString("base64").slice(0, -4)),
    Buffer.from(secret).toString("hex"),
  ].map((text) => Buffer.from(text))

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "secret.key")
    .map((entry) => join(entry.parentPath, entry.name))
}

test("finds none of 40 planted secrets in both stores, a backup, the audit log and the log", async () => {
  using outside = receiver()
  await using mailbox = await openMailbox()
  const clock = { now: () => Date.parse("2026-11-27T12:00:00Z") }
  await using fake = await google({ now: () => clock.now() })
  const settings = {
    ...mailbox.settings,
    ...fake.settings,
    smtp_password: "smtp-password-QX81",
    allow_http_webhooks: "true",
    allow_private_webhooks: "127.0.0.0/8",
    outbound_ports: String(outside.port),
    telegram_api_base: outside.url("/telegram"),
  }
  await using instance = await startInstance({ now: "2026-11-27T12:00:00Z", settings })
  clock.now = instance.clock.now
  const planted: string[] = [settings.smtp_password, fake.settings.google_client_secret!, instance.key, instance.statsKey]
  const cookie = await instance.signIn({ role: "owner" })
  planted.push(cookie.split("=")[1]!)
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
  async function ask(method: string, path: string, body?: object, expected = 201): Promise<any> {
    const answer: Answer = await instance.api.send(method, path, body, undefined, { cookie })
    if (answer.status !== expected) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const urlOf = (name: string) => {
    const secret = `${name}-path-${crypto.randomUUID()}`
    planted.push(secret)
    return outside.url(`/services/${secret}`)
  }
  await instance.runJobs()

  for (let i = 0; i < 3; i++) {
    const { id, secret } = await ask("POST", `${SITE}/webhooks`, { url: urlOf("webhook"), events: ["*"] })
    planted.push(secret, (await ask("POST", `${SITE}/webhooks/${id}/rotate-secret`, undefined, 200)).secret)
  }
  for (const kind of ["slack", "discord", "teams", "mattermost"])
    await ask("POST", `${SITE}/integrations/${kind}/connect`, { url: urlOf(kind) })
  await ask("POST", `${SITE}/integrations/ntfy/connect`, { url: urlOf("ntfy").replace("/services", "") })
  const bot = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
  planted.push(bot)
  await ask("POST", `${SITE}/integrations/telegram/connect`, { api_key: bot, config: { chat_id: "-100123" } })

  for (const kind of HOOK_KINDS) {
    const [first, second] = [SECRETS[kind], kind === "payments-generic" ? `whsec_${btoa(crypto.randomUUID())}` : crypto.randomUUID()]
    const hook = await ask("POST", `${SITE}/integrations/hooks`, { kind, signing_secret: first })
    const { pathname } = new URL(hook.url)
    planted.push(first, second, pathname.split("/").at(-1)!)
    if (kind === "stripe") {
      // The body of a payment contains personal data.
      planted.push(PAYMENT_INTENT.receipt_email)
      const body = JSON.stringify(stripeEvent("payment_intent.succeeded", PAYMENT_INTENT))
      const sent = await instance.api.post(pathname, body, undefined, signatureOf(kind, body, { at: clock.now() }))
      expect(sent.status).toBe(200)
    }
    await ask("POST", `${SITE}/integrations/hooks/${hook.id}/rotate-secret`, { signing_secret: second }, 200)
  }

  const { connections, backups, catalog, accounts } = instance.app.instance
  const terms = { organizationId: 1, userId: null, scopes: [READ] }
  const { url, checks } = await connections.begin("google", [READ], BACK)
  await connections.finish("google", await fake.consent(url), checks, terms)
  const account = fake.serviceAccount()
  await connections.connectServiceAccount("google", account, terms)
  planted.push(await connections.accessToken(1, READ), await connections.accessToken(2, READ), account.private_key!.slice(40, 120))

  await ask("POST", "/api/private/organizations/1/members/invite", { email: "new@example.org", role: "viewer" })
  const report = await ask("POST", `${SITE}/reports`, { kind: "weekly", recipients: ["boss@example.org"], hour: 7 })
  await ask("POST", `${SITE}/reports/${report.id}/send-now`, undefined, 200)
  await accounts.mail.deliver()
  const texts = mailbox.emails.map(({ text }) => text).join("\n")
  const tokens = [...texts.matchAll(/\/(?:unsubscribe|invite)\/([\w-]{20,})/g)].map(([, token]) => token!)
  expect(new Set(tokens).size).toBeGreaterThanOrEqual(2)
  planted.push(...new Set(tokens))
  await instance.runJobs()
  outside.always = 500
  await ask("POST", `${SITE}/webhooks/1/test`, undefined, 202)
  await instance.runJobs()

  expect(new Set(planted).size).toBeGreaterThanOrEqual(40)
  await backups.create("manual")
  await catalog.checkpoint()
  const files = filesBelow(instance.dataDir)
  expect(files.map((file) => file.slice(instance.dataDir.length + 1)).filter((name) => /(catalog|events)\.db$/.test(name))).toHaveLength(4)
  const haystacks: [string, Buffer][] = [["the log", Buffer.from(JSON.stringify(instance.log.lines))]]
  for (const file of files) haystacks.push([file, Buffer.from(await Bun.file(file).arrayBuffer())])
  // The provider learns the refresh token again when the connection ends.
  await connections.remove(1, 1)
  planted.push(fake.revoked[0]!)
  const found = planted.flatMap((secret) =>
    haystacks.flatMap(([name, bytes]) => (spellings(secret).some((text) => bytes.includes(text)) ? [`${secret} in ${name}`] : [])),
  )
  expect(found).toEqual([])
  // The search itself works: the label of the same connection is there.
  expect(haystacks.filter(([, bytes]) => bytes.includes(fake.account.email)).length).toBeGreaterThanOrEqual(2)
}, 60_000)
