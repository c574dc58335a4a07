import { expect } from "bun:test"
import { openDashboard } from "#plugin/test/browser"
import imports from "../imports.ts"
import { PATH, simpleAnalytics } from "./kit.ts"

/** Starts a real instance with this plugin, whose day is 21 November 2026. */
export async function openImports(role: "editor" | "viewer" = "editor") {
  const stand = await openDashboard({ plugins: [imports] })
  const owner = await stand.signIn({ role: "owner" })
  const cookie = await stand.signIn({ role })
  return {
    ...stand,
    look: (looking = {}) => stand.look({ cookie, ...looking }),
    /** Starts an import of two visits without the dashboard. */
    async start(fields: object = {}) {
      const body = { source: "simple_analytics", files: [{ name: "export.csv", content: EXPORT }], ...fields }
      expect(await stand.instance.api.post(PATH, body, undefined, { cookie: owner })).toMatchObject({ status: 202 })
    },
    /** Runs an import of two visits without the dashboard. */
    async run(fields: object = {}) {
      await this.start(fields)
      await stand.instance.runJobs()
    },
    [Symbol.asyncDispose]: () => stand[Symbol.asyncDispose](),
  }
}

/** Two visits on 1 and 2 October 2026. */
export const EXPORT = simpleAnalytics([
  { at: "2026-10-01T10:00:00Z", path: "/", session: "a" },
  { at: "2026-10-01T10:05:00Z", path: "/pricing", session: "a" },
  { at: "2026-10-02T09:00:00Z", path: "/", session: "b", country: "FR" },
])

/** Widths and themes in which screens are checked; the first two at the size `check`. */
export const EACH_THEME: readonly (readonly [width: number, theme: "light" | "dark"])[] = [
  [1280, "light"],
  [375, "dark"],
  [1280, "dark"],
  [375, "light"],
]
