import { startInstance, type TestInstance } from "#plugin/test"
import imports from "../imports.ts"
import type { ImportResponse } from "../responses.ts"

/** An instance with imports, a member who may import, and short calls. */
export interface ImportStage extends AsyncDisposable {
  instance: TestInstance
  headers: { cookie: string }
  get(path: string): ReturnType<TestInstance["api"]["get"]>
  post(path: string, body?: unknown): ReturnType<TestInstance["api"]["get"]>
  send(method: string, path: string, body?: unknown): ReturnType<TestInstance["api"]["get"]>
  /** Starts an import, runs it and returns it. Throws if it was refused. */
  run(body: object): Promise<ImportResponse>
  /** Returns the metrics of all time as the public API answers them. `more` are further parameters. */
  totals(more?: string): Promise<Record<string, number>>
}

type ImportStageOptions = Parameters<typeof startInstance>[0] & { isWhole?: boolean }

export const PATH = "/api/private/sites/1/imports"

/** Starts an instance with the plugin alone, or with all plugins of the program. */
export async function startImports({ isWhole = false, ...options }: ImportStageOptions = {}): Promise<ImportStage> {
  const instance = await startInstance({ ...(!isWhole && { plugins: [imports] }), ...options })
  await instance.signIn({ role: "owner", isInstanceAdmin: true })
  const headers = { cookie: await instance.signIn({ role: "admin" }) }
  const { api } = instance
  const send: ImportStage["send"] = (method, path, body) => api.send(method, PATH + path, body, undefined, headers)
  const get: ImportStage["get"] = (path) => send("GET", path)
  return {
    instance,
    headers,
    send,
    get,
    post: (path, body) => send("POST", path, body),
    async run(body) {
      const { status, body: answer } = await send("POST", "", body)
      if (status !== 202) throw new Error(`The import was refused: ${JSON.stringify(answer)}`)
      await instance.runJobs()
      return (await get(`/${(answer as ImportResponse).id}`)).body as ImportResponse // the response of the route
    },
    async totals(more = "") {
      const { body } = await api.get(`/api/public/v1/sites/${instance.site.id}/stats/summary?period=all${more}`, instance.statsKey)
      return (body as { metrics: Record<string, number> }).metrics // the response of the route
    },
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}

/** Visits of Simple Analytics: one pageview per line. */
export function simpleAnalytics(rows: readonly { at: string; path: string; session: string; country?: string }[]): string {
  const lines = rows.map(({ at, path, session, country = "DE" }) => `${at},${path},${session},${country},shop.example,pageview`)
  return ["added_iso,path,session_id,country_code,hostname,datapoint", ...lines].join("\n")
}

export const file = (content: string, name = "export.csv") => ({ source: "simple_analytics", files: [{ name, content }] })
