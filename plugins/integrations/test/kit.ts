import { Type as t } from "@sinclair/typebox"
import { type AnyPlugin, type Contribution, definePlugin } from "#plugin"
import { type Answer, openMailbox, type SignInAs, type StartOptions, startInstance, type TestInstance } from "#plugin/test"
import integrations from "../integrations.ts"

/** A plugin that publishes events of other areas. */
export const publisher = definePlugin({
  id: "publisher",
  title: "Publisher",
  events: {
    "import.failed": { title: "Import failed", payload: t.Object({}) },
  },
  setup: () => ({}),
})

// biome-ignore lint/suspicious/noExplicitAny: answers whose fields the tests compare
type Json = any

export const SITE = "/api/private/sites/1"

/** A request that a receiver got. */
export interface Received {
  path: string
  headers: Record<string, string>
  body: string
  at: number
}

/** A real server on loopback that receives webhooks and chat messages. */
export interface Receiver extends Disposable {
  port: number
  url(path?: string): string
  received: Received[]
  /** Answers of the next requests, in order. Afterwards it answers 200. */
  answers: (number | Response | (() => Response | Promise<Response>))[]
  /** Answers all requests in this way, once `answers` is empty. */
  always: number | (() => Response | Promise<Response>)
}

export function receiver(): Receiver {
  const received: Received[] = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url)
      received.push({ path: pathname, headers: Object.fromEntries(request.headers), body: await request.text(), at: performance.now() })
      const answer = own.answers.shift() ?? own.always
      if (typeof answer === "number") return new Response(answer === 204 ? null : "", { status: answer })
      return typeof answer === "function" ? answer() : answer
    },
  })
  const own: Receiver = {
    port: server.port!,
    url: (path = "/hook/a-long-secret-path-0001") => `http://127.0.0.1:${server.port}${path}`,
    received,
    answers: [],
    always: 200,
    [Symbol.dispose]: () => void server.stop(true),
  }
  return own
}

export interface Stand extends AsyncDisposable {
  instance: TestInstance
  /** Sends a request as an owner of the organization. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer & { body: Json }>
  /** Signs in another user. */
  as(standing: SignInAs): Promise<Stand["ask"]>
  /** Creates a webhook. Throws if it is refused. */
  webhook(url: string, more?: object): Promise<Json>
  /** Publishes a product event of the site, or of the organization alone. */
  publish(event: string, payload?: object, siteId?: number | null): Promise<void>
  /** Passes a stored product event to the webhooks once more, as after a crash. */
  consume(eventId: number): Promise<void>
  /** Delivers what is due. */
  work(): Promise<void>
  /** Advances the clock and delivers what is due then. */
  after(ms: number): Promise<void>
  emails: { to: string; text: string }[]
}

/** Starts an instance that may call these receivers, with integrations and a plugin that publishes events of other areas. */
export async function stand(receivers: readonly Receiver[], options: StartOptions = {}): Promise<Stand> {
  const mailbox = await openMailbox()
  const settings = {
    ...mailbox.settings,
    allow_http_webhooks: "true",
    allow_private_webhooks: "127.0.0.0/8",
    outbound_ports: ["80", "443", ...receivers.map(({ port }) => String(port))].join(","),
    ...options.settings,
  }
  let consumers: Contribution["consumers"]
  const observed: AnyPlugin = {
    ...integrations,
    async setup(host) {
      const contribution = await integrations.setup(host)
      consumers = contribution.consumers
      return contribution
    },
  }
  const instance = await startInstance({ ...options, plugins: [observed, publisher], settings })
  const { outbox } = instance.app.instance
  const as: Stand["as"] = async (standing) => {
    const cookie = await instance.signIn(standing)
    return (method, path, body, headers) => instance.api.send(method, SITE + path, body, undefined, { cookie, ...headers })
  }
  const ask = await as({ role: "owner" })
  // The consumers of product events begin with the first run.
  await instance.runJobs()
  const work = async () => {
    await instance.runJobs()
    await Bun.sleep(1)
    await instance.runJobs()
  }
  return {
    instance,
    ask,
    as,
    emails: mailbox.emails,
    async webhook(url, more = {}) {
      const answer = await ask("POST", "/webhooks", { url, events: ["*"], ...more })
      if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    publish: (event, payload = {}, siteId = 1) =>
      outbox.writeAlone({ event, organizationId: 1, payload, ...(siteId !== null && { siteId }) }),
    work,
    async consume(eventId) {
      await consumers!.webhooks!.consume((await outbox.get(eventId))!, new AbortController().signal)
    },
    async after(ms) {
      instance.clock.advance(ms)
      await work()
    },
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]()
      await mailbox[Symbol.asyncDispose]()
    },
  }
}
