import { expect } from "bun:test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import dashboards from "../dashboards.ts"
import { SITE, widget } from "./kit.ts"

pluginScreens({
  plugin: dashboards,
  paths: ["/sites/1/dashboards/all", "/sites/1/dashboards/1?period=28d"],
  /** Creates a dashboard of every core widget whose texts are attacks, and more with such names. */
  async fill({ api, eventsKey }, cookie) {
    const as = { cookie }
    const attack = HOSTILE[0]!
    const events = HOSTILE.map((text) => ({
      name: "pageview",
      url: `https://example.com/${encodeURIComponent(text)}`,
      referrer: `https://evil.example/${encodeURIComponent(text)}`,
    }))
    expect((await api.post("/api/public/v1/sites/1/events", { events }, eventsKey)).status).toBe(202)
    const note = { at: "2026-11-20", text: attack, scope: "site" }
    expect((await api.post(`${SITE}/annotations`, note, undefined, as)).status).toBe(201)
    const filters = [{ dimension: "page", operator: "contains", values: ["/"] }]
    const widgets = [
      widget(
        "text",
        { markdown: `${HOSTILE.join("\n\n")}\n\n[link](javascript:alert(1)) ![image](https://evil.example/x.png) <b>raw</b>` },
        { w: 12, h: 4 },
      ),
      widget("metric", { metric: "visitors" }, { y: 4, w: 3, title: attack }),
      widget("web_vitals", {}, { x: 3, y: 4, w: 9 }),
      widget("timeseries", { metrics: ["visitors", "bounce_rate", "pageviews"], chart: "bars" }, { y: 6, w: 6, h: 4 }),
      widget("map", {}, { x: 6, y: 6, w: 6, h: 4 }),
      widget("breakdown", { dimension: "page", metrics: ["visitors", "pageviews"] }, { y: 10, w: 6, h: 4 }),
      widget("goals", {}, { x: 6, y: 10, w: 6, h: 4 }),
      widget("realtime", {}, { y: 14, h: 4 }),
      widget("annotations", {}, { x: 4, y: 14, h: 4 }),
      widget(
        "comparison",
        {
          metric: "visitors",
          rows: [
            { label: attack, filters },
            { label: HOSTILE[1], filters },
          ],
        },
        { x: 8, y: 14, h: 4 },
      ),
      widget(
        "funnel",
        {
          steps: [
            { type: "page", value: `/${attack}` },
            { type: "event", value: attack },
          ],
        },
        { y: 18, w: 6, h: 4 },
      ),
      widget("breakdown", { dimension: "source", range: { period: "7d" }, filters }, { x: 6, y: 18, w: 6, h: 4, title: HOSTILE.at(-1) }),
    ]
    const board = { name: attack, description: attack, visibility: "site", widgets }
    expect(await api.post(`${SITE}/dashboards`, board, undefined, as)).toMatchObject({ status: 201 })
    for (const name of HOSTILE) expect((await api.post(`${SITE}/dashboards`, { name }, undefined, as)).status).toBe(201)
  },
})
