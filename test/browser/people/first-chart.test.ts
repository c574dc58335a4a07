import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { serving } from "../../cli/footfall.ts"
import { temporaryFolder } from "../../kit.ts"
import { noBrowser, openContext, openVisitor } from "../browser.ts"

setDefaultTimeout(150_000)

const MOST_INPUTS = 9
const MOST_MS = 120_000

/** Serves a website with the given markup in the head of each page. */
const openBlog = (head: string) =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(`<!doctype html><title>Blog</title>${head}<h1>Blog</h1>`, { headers: { "content-type": "text/html" } }),
  })

/** Counts all visible form controls, with or without a value. */
const inputs = (page: Page): Promise<number> => page.locator("main :is(input, select, textarea):visible").count()

test.skipIf(noBrowser)("gets from an empty folder to the first visitor on the chart with at most nine inputs", async () => {
  const begun = performance.now()
  using folder = temporaryFolder()
  await using server = await serving(folder.path)
  const { setup } = server.printed as { setup: { url: string; token: string } }
  const context = await openContext({ timezoneId: "Europe/Lisbon", locale: "en-GB" })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const faults: string[] = []
  page.on("pageerror", (error) => faults.push(String(error.stack)))
  let inputCount = 0

  // The link that the terminal prints.
  await page.goto(`${setup.url}#${setup.token}`)
  await page.getByLabel("Your name").waitFor()
  expect(page.url()).toBe(setup.url)
  await page.getByLabel("Your name").fill("Ada Byron")
  await page.getByLabel("Email").fill("ada@example.org")
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery staple")
  await page.getByLabel("Organization").fill("Engines")
  inputCount += await inputs(page)
  await page.keyboard.press("Enter")
  await page.getByLabel("Name", { exact: true }).fill("Blog")
  await page.getByLabel("Domain").fill("blog.example")
  inputCount += await inputs(page)
  await page.keyboard.press("Enter")
  expect(inputCount).toBeLessThanOrEqual(MOST_INPUTS)

  await page.getByRole("heading", { name: "Installation check" }).waitFor()
  expect(new URL(page.url()).pathname).toBe("/sites/1")
  await page.getByText("Waiting for the first event. Open a page of your site.").waitFor()
  const snippet = await page.getByRole("tabpanel", { name: "HTML" }).locator("pre").first().textContent()
  const blog = openBlog(snippet ?? "")
  const visitor = await openVisitor()
  try {
    // From here on nothing is pressed or reloaded. The dashboard may replace the check at any moment.
    const isSeen = page.getByText("Event pageview on blog.example/first").waitFor()
    await (await visitor.newPage()).goto(`http://blog.example:${blog.port}/first`)
    await isSeen
    await page.getByRole("heading", { name: "Sources" }).waitFor()
    await page.getByRole("button", { name: /^Visitors 1/ }).waitFor()
    await page.getByRole("link", { name: "/first", exact: true }).waitFor()
    expect(await inputs(page)).toBeLessThanOrEqual(1)
    expect(performance.now() - begun).toBeLessThan(MOST_MS)
    expect(faults).toEqual([])
  } finally {
    await visitor.close()
    await blog.stop(true)
    await context.close()
  }
  expect(await server.end("SIGTERM")).toBe(0)
})
