import type { Page } from "playwright-core"
import type { DashboardStand, Watched } from "../report/dashboard-stand.ts"

/** Waits for a text on the page. */
export const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor({ timeout: 8_000 })

/** An owner at a page of the site's own instance. */
export async function openAs(stand: DashboardStand, path: string): Promise<Watched> {
  const looking = await stand.look({ cookie: await stand.signIn({ role: "owner", isInstanceAdmin: true }) })
  looking.page.setDefaultTimeout(8_000)
  await looking.page.goto(stand.origin + path)
  return looking
}

/** The private API as the person of the page asks it. */
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
