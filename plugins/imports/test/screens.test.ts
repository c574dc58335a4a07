import { expect } from "bun:test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import imports from "../imports.ts"
import { PATH, simpleAnalytics } from "./kit.ts"

pluginScreens({
  plugin: imports,
  paths: ["/sites/1/imports", "/sites/1/imports/1"],
  /** Runs an import whose name, files and values are attacks. */
  async fill({ api, runJobs }, cookie) {
    const rows = HOSTILE.map((text, index) => ({
      at: "2026-10-01T10:00:00Z",
      path: `/${encodeURIComponent(text)}`,
      session: String(index),
    }))
    const files = [{ name: `${HOSTILE[0]}.csv`, content: simpleAnalytics(rows) }]
    const body = { source: "simple_analytics", files, label: HOSTILE[0]!.slice(0, 100) }
    expect(await api.post(PATH, body, undefined, { cookie })).toMatchObject({ status: 202 })
    await runJobs()
  },
})
