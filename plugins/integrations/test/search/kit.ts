import {
  type Answer,
  type Google,
  google,
  openMailbox,
  type SearchConsole,
  type SignInAs,
  type StartOptions,
  searchConsole,
  startInstance,
  type TestInstance,
} from "#plugin/test"
import integrations from "../../integrations.ts"

// biome-ignore lint/suspicious/noExplicitAny: answers whose fields the tests compare
type Json = any
type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer & { body: Json }>

export const SITE = "/api/private/sites/1"
export const READ = "https://www.googleapis.com/auth/webmasters.readonly"

export interface Desk extends AsyncDisposable {
  instance: TestInstance
  google: Google
  console: SearchConsole
  emails: { to: string; text: string }[]
  /** Sends a request below the site as an owner of the organization. */
  ask: Ask
  as(standing: SignInAs): Promise<Ask>
  /** Opens a page with the session of the owner, or with another cookie. */
  visit(url: URL | string, cookie?: string): Promise<Response>
  /** Connects an account as a person does: to Google's page and back. Returns where the browser ends. */
  connect(kind?: string): Promise<string>
  /** Maps the property to the site. */
  map(more?: object): Promise<Json>
  /** Runs what is due, and sends emails. */
  work(): Promise<void>
  after(ms: number): Promise<void>
  /** Returns the mapping as it is shown. */
  mapping(): Promise<Json>
  events(): Promise<{ event: string; payload: Json }[]>
}

/** Starts an instance that uses the fakes. `hasClient`: whether it has a client at Google. */
export async function desk({ hasClient = true, ...options }: StartOptions & { hasClient?: boolean } = {}): Promise<Desk> {
  const clock = { now: () => Date.parse("2026-11-21T12:00:00Z") }
  const fake = await google({ now: () => clock.now() })
  const console_ = searchConsole(fake)
  const mailbox = await openMailbox()
  const { google_client_id, google_client_secret, ...urls } = fake.settings
  const client = hasClient ? { google_client_id: google_client_id!, google_client_secret: google_client_secret! } : {}
  const settings = { ...mailbox.settings, ...urls, ...client, ...options.settings }
  const instance = await startInstance({ ...options, plugins: options.plugins ?? [integrations], settings })
  clock.now = instance.clock.now
  const cookie = await instance.signIn({ role: "owner" })
  const askAs =
    (own: string): Ask =>
    (method, path, body, headers) =>
      instance.api.send(method, SITE + path, body, undefined, { cookie: own, ...headers })
  const ask = askAs(cookie)
  const visit: Desk["visit"] = (url, own = cookie) => instance.fetch(new Request(url, { headers: { cookie: own } }))
  const work = async () => {
    await instance.runJobs()
    await Bun.sleep(1)
    await instance.runJobs()
    await instance.app.instance.accounts.mail.deliver()
  }
  await instance.runJobs()
  return {
    instance,
    google: fake,
    console: console_,
    emails: mailbox.emails,
    ask,
    as: async (standing) => askAs(await instance.signIn(standing)),
    visit,
    async connect(kind = "search-console") {
      const { status, body } = await ask("POST", `/integrations/${kind}/connect`, {})
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      const back = await fake.consent(body.authorize_url)
      const answer = await visit(back)
      return answer.headers.get("location") ?? `${answer.status} ${await answer.text()}`
    },
    async map(more = {}) {
      const list = await ask("GET", "/integrations/search-console/properties")
      const [{ integration_id, property }] = list.body.data
      const { status, body } = await ask("PUT", "/integrations/search-console/mapping", { integration_id, property, ...more })
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body
    },
    work,
    async after(ms) {
      instance.clock.advance(ms)
      await work()
    },
    async mapping() {
      const { body } = await ask("GET", "/integrations")
      return body.data.find((one: Json) => one.kind === "search-console" && one.scope === "site")
    },
    async events() {
      const { catalog } = instance.app.instance
      const { sql } = await import("#plugin")
      const rows = await catalog.all<{ event: string; payload_json: string }>(
        sql`select event, payload_json from outbox order by id limit 1000`,
      )
      return rows.map(({ event, payload_json }) => ({ event, payload: JSON.parse(payload_json) }))
    },
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]()
      await mailbox[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
    },
  }
}
