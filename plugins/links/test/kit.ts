import { type Answer, BROWSER, type StartOptions, startInstance, type TestInstance } from "#plugin/test"
import links from "../links.ts"

export const PATH = "/api/private/sites/1/links"
export const GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

// biome-ignore lint/suspicious/noExplicitAny: answers from which the tests read ids and slugs
type Json = any

export interface LinkStand extends AsyncDisposable {
  instance: TestInstance
  /** Sends a request as an owner. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer & { body: Json }>
  /** Creates a link. Throws if it is rejected. */
  make(body: object): Promise<Json>
  /** Sends a request as a visitor, by default from a new address each time. */
  visit(
    path: string,
    options?: { headers?: Record<string, string>; address?: string; method?: string; body?: string; host?: string },
  ): Promise<Response>
  /** Resolves when all clicks are on disk. */
  recorded(): Promise<void>
}

let addresses = 0
export const freshAddress = (): string => `203.0.${(++addresses >> 8) & 255}.${addresses & 255}`

/** Starts an instance with the links plugin, an owner and visitors. */
export async function linkStand(options: StartOptions = {}): Promise<LinkStand> {
  const instance = await startInstance({ plugins: [links], ...options })
  const cookie = await instance.signIn({ role: "owner" })
  const ask: LinkStand["ask"] = (method, path, body, headers) => instance.api.send(method, path, body, undefined, { cookie, ...headers })
  return {
    instance,
    ask,
    async make(body) {
      const answer = await ask("POST", PATH, body)
      if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    visit: (path, { headers = {}, address = freshAddress(), method = "GET", body, host = "localhost" } = {}) =>
      instance.fetch(
        new Request(`http://${host}${path}`, {
          method,
          headers: { host, "user-agent": BROWSER, ...headers },
          ...(body !== undefined && { body }),
        }),
        address,
      ),
    recorded: () => instance.app.collector.recorded(),
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}
