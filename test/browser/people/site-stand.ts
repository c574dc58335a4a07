import type { Page } from "playwright-core"
import type { DashboardStand, WatchedPage } from "../report/dashboard-stand.ts"

/** Opens a page as an owner. */
export async function openAs(stand: DashboardStand, path: string): Promise<WatchedPage> {
  const looking = await stand.look({ cookie: await stand.signIn({ role: "owner", isInstanceAdmin: true }) })
  looking.page.setDefaultTimeout(20_000)
  await looking.page.goto(stand.origin + path)
  return looking
}

/** Calls the private API as the user of the page. */
export const ask = (page: Page, path: string, method = "GET", body?: unknown) =>
  page.evaluate(
    async ([path, method, body]) => {
      const answer = await fetch(path!, {
        method: method!,
        ...(body !== null && { headers: { "content-type": "application/json" }, body: body! }),
      })
      const text = await answer.text()
      return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) }
    },
    [path, method, body === undefined ? null : JSON.stringify(body)] as const,
  )
