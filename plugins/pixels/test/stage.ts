import { BROWSER, startInstance, type TestInstance } from "#plugin/test"
import pixels from "../pixels.ts"

export const PIXELS = "/api/private/sites/1/pixels"

/** Starts an instance with only this plugin and a user who may create pixels. */
export async function openStage(settings: Record<string, string> = {}) {
  const instance = await startInstance({ plugins: [pixels], settings })
  const cookie = await instance.signIn({ role: "editor" })
  const as = { cookie }
  return {
    ...instance,
    as,
    get: (path: string) => instance.api.get(PIXELS + path, undefined, as),
    send: (method: string, path: string, body?: unknown, headers = {}) =>
      instance.api.send(method, PIXELS + path, body, undefined, { ...as, ...headers }),
    /** Creates a pixel and returns the answer. */
    async make(fields: object = {}): Promise<{ id: number; slug: string; version: number }> {
      const { status, body } = await instance.api.post(PIXELS, { name: "News", kind: "email", ...fields }, undefined, as)
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body as { id: number; slug: string; version: number }
    },
    /** Requests an image like a reader's mail client. */
    ask: (path: string, { headers = {}, method = "GET", address = "198.51.100.7" }: ReportOptions = {}) =>
      instance.fetch(new Request(`http://localhost${path}`, { method, headers: { "user-agent": BROWSER, ...headers } }), address),
    folded: () => folded(instance),
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}
export type Stage = Awaited<ReturnType<typeof openStage>>

export interface ReportOptions {
  headers?: Record<string, string>
  method?: string
  address?: string
}

/** Resolves when all requests are recorded and counted. */
async function folded({ app, clock, runJobs }: TestInstance): Promise<void> {
  await app.collector.recorded()
  clock.advance(20_000)
  await runJobs()
}

export const headersOf = ({ headers }: Response): Record<string, string> => Object.fromEntries(headers)
