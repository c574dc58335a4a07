/** Dashboards of a site with four visitors, and their data. */
import type { AnyPlugin } from "#plugin"
import type { WidgetResult } from "../responses.ts"
import { type Member, type Stage, startStage } from "./kit.ts"

export type Results = Record<string, WidgetResult>

export interface DataStage extends Stage {
  /** Creates a dashboard over seven days with widgets below one another, and returns its id. */
  board(widgets: Record<string, unknown>[], more?: object, as?: Member): Promise<number>
  /** Returns the results of a dashboard in the order of its widgets. */
  dataOf(id: number, body?: object, as?: Member): Promise<WidgetResult[]>
}

export async function startVisits(plugins: readonly AnyPlugin[] = []): Promise<DataStage> {
  const stage = await startStage({ plugins, areas: ["cohorts"] })
  const visit = (ip: number, name: string, path: string, at: string) => ({
    ...{ name, url: `https://shop.example${path}`, timestamp: `2026-11-${at}:00Z`, ip: `203.0.113.${ip}` },
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  })
  const events = [
    visit(1, "pageview", "/?utm_source=news", "20T10:00"),
    visit(1, "pageview", "/pricing", "20T10:01"),
    visit(1, "signup", "/pricing", "20T10:02"),
    visit(2, "pageview", "/", "20T11:00"),
    visit(3, "pageview", "/pricing", "20T12:00"),
    visit(4, "pageview", "/", "05T10:00"),
  ]
  const { body } = await stage.instance.api.post("/api/public/v1/sites/1/events", { events }, stage.instance.eventsKey)
  if ((body as { accepted: number }).accepted !== events.length) throw new Error(JSON.stringify(body))
  return {
    ...stage,
    board: (widgets, more = {}, as) =>
      stage.make({ name: "Board", range: { period: "7d" }, ...more, widgets: widgets.map((each, i) => ({ ...each, y: i * 2 })) }, as),
    async dataOf(id, body = {}, as) {
      const answer = await stage.post(`/dashboards/${id}/data`, body, as)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      const { results } = answer.body as { results: Results }
      const inOrder = Object.entries(results).sort(([a], [b]) => Number(a) - Number(b))
      return inOrder.map(([, result]) => result)
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  }
}
