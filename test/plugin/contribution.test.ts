import { expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { type AreaStep, definePlugin, defineWidget, type Host, type PassingEvent, type Widget } from "#plugin"
import { startInstance, type TestInstance } from "#plugin/test"

const view = (instance: TestInstance, path: string) =>
  instance.collect({ n: "pageview", u: `https://shop.example${path}`, t: "A title", p: { plan: "pro" } }, { address: "203.0.113.7" })

async function valuesOf(instance: TestInstance, property: string): Promise<unknown[]> {
  const path = `/api/public/v1/sites/1/stats/breakdown?dimension=property&property=${property}&period=today&metrics=events`
  const { body } = await instance.api.get(path, instance.key)
  return (body as { rows: { value: string; events: number }[] }).rows.map(({ value, events }) => [value, events])
}

const stepping = (id: string, ...ingest: AreaStep[]) => definePlugin({ id, title: "Steps", setup: () => ({ ingest }) })

test("a step adds properties to events while its plugin is enabled, and sees nothing about the sender", async () => {
  const seen: PassingEvent[] = []
  const plugin = stepping("shelves", (event) => {
    seen.push(event)
    return { shelf: event.page.split("/")[1] ?? "", plan: "by the area" }
  })
  await using instance = await startInstance({ plugins: [plugin] })
  await view(instance, "/books/1")
  await instance.app.instance.plugins.turn("shelves", false, null)
  await view(instance, "/records/2")
  await instance.app.instance.plugins.turn("shelves", true, null)
  await view(instance, "/books/3")
  expect(await valuesOf(instance, "shelf")).toEqual([
    ["books", 2],
    ["(none)", 1],
  ])
  expect(await valuesOf(instance, "plan")).toEqual([
    ["by the area", 2],
    ["pro", 1],
  ])
  expect(seen).toHaveLength(2)
  const { site, ...rest } = seen[0]!
  expect(site.id).toBe(1)
  expect(rest).toEqual({
    at: Date.parse("2026-11-21T12:00:00Z"),
    name: "pageview",
    hostname: "shop.example",
    page: "/books/1",
    title: "A title",
    props: [["plan", "pro"]],
  })
  expect(JSON.stringify(seen)).not.toContain("203.0.113")
})

test("a step that fails or adds invalid properties loses no event", async () => {
  const failing: AreaStep = () => {
    throw new Error("made up")
  }
  const greedy: AreaStep = () => ({ long: "x".repeat(5_000), "": "no key", good: "kept" })
  await using instance = await startInstance({ plugins: [stepping("failing", failing), stepping("greedy", greedy)] })
  expect(await view(instance, "/")).toMatchObject({ status: 202 })
  expect(await valuesOf(instance, "good")).toEqual([["kept", 1]])
  expect(await valuesOf(instance, "long")).toEqual([["(none)", 1]])
  expect(instance.log.lines.filter(({ level }) => level === "error").map(({ fields }) => String(fields?.error))).toEqual(["Error: made up"])
})

const SIZE = { min_w: 2, min_h: 1, w: 4, h: 2 }
const Config = t.Object({ limit: t.Integer({ default: 3 }) }, { additionalProperties: false })

/** A widget that shows the top pages. */
const pagesCard = (host: () => Host, more: Partial<Widget> = {}): Widget =>
  defineWidget<typeof Config>({
    title: "Top pages",
    description: "Pages with most visitors.",
    size: SIZE,
    config: Config,
    needs: "site:read",
    filter_dimensions: "all",
    answer: t.Any(),
    shareable: () => true,
    async resolve({ site, given, asking }, { limit }) {
      const { rows, ...meta } = await host().services.stats.breakdown(site, { ...given, dimension: "page", limit }, asking)
      return { data: rows, meta }
    },
    ...(more as object),
  })

function cards(more: Partial<Widget> = {}, type = "pages_top") {
  let known: Host
  const plugin = definePlugin({
    id: "cards",
    title: "Cards",
    setup(host) {
      known = host
      return { widgets: { [type]: pagesCard(() => known, more) } }
    },
  })
  return { plugin, host: () => known }
}

test("a dashboard finds the widgets of all plugins, queries them with the viewer's permissions and marks disabled ones", async () => {
  let board: Host | undefined
  const boards = definePlugin({
    id: "boards",
    title: "Boards",
    setup(host) {
      board = host
      return {}
    },
  })
  // The dashboard's plugin precedes the one whose widgets it shows.
  await using instance = await startInstance({ plugins: [boards, cards().plugin] })
  for (const path of ["/a", "/b"]) await view(instance, path)
  const [widget, ...others] = board!.widgets()
  expect(others).toEqual([])
  expect(widget).toMatchObject({ type: "pages_top", plugin: "cards", title: "Top pages", needs: "site:read", size: SIZE })
  expect(widget!.isAvailable()).toBe(true)
  const locked = { op: "is" as const, dimension: "page" as const, values: ["/a"], missing: false, caseSensitive: true }
  const { data } = await widget!.resolve({ site: instance.site, given: { period: "today" }, asking: { locked } }, { limit: 5 })
  expect(data).toMatchObject([{ value: "/a", visitors: 1 }])
  await expect(widget!.resolve({ site: instance.site, given: { period: "x" }, asking: {} }, { limit: 5 })).rejects.toMatchObject({
    code: "validation_failed",
  })
  const question = { site: instance.site, given: { period: "today" }, asking: {} }
  expect((await widget!.resolve(question, {})).data).toHaveLength(2)
  await expect(widget!.resolve(question, { limit: "5", colour: 1 })).rejects.toMatchObject({
    code: "validation_failed",
    members: {
      errors: [
        { pointer: "/config/colour", code: "unknown_field", detail: "colour is not a known field." },
        { pointer: "/config/limit", code: "invalid_type", detail: "limit must be a whole number." },
      ],
    },
  })
  await instance.app.instance.plugins.turn("cards", false, null)
  expect(board!.widgets()[0]!.isAvailable()).toBe(false)
})

test.each<[string, Partial<Widget>, string, string]>([
  [
    "that needs an unknown permission",
    { needs: "cards:read" },
    "pages_top",
    "the widget pages_top needs the undeclared permission cards:read",
  ],
  ["with an invalid type", {}, "Pages-Top", "the widget Pages-Top must have a type of lower-case letters and underscores"],
  [
    "wider than a dashboard",
    { size: { ...SIZE, w: 13 } },
    "pages",
    "the widget pages does not fit a dashboard of 12 columns and cards of at most 12 rows",
  ],
  [
    "below the minimum size",
    { size: { ...SIZE, h: 0 } },
    "pages",
    "the widget pages does not fit a dashboard of 12 columns and cards of at most 12 rows",
  ],
  ["without a title", { title: " " }, "pages", "the widget pages has no title"],
])("a widget %s prevents the start", async (_, more, type, message) => {
  const started = startInstance({ plugins: [cards(more, type).plugin] }).catch((error: unknown) => error)
  expect(await started).toMatchObject({ exit: "configuration", message: `The plugin cards: ${message}` })
})

test("two plugins with a widget of the same type prevent the start", async () => {
  const other = definePlugin({ id: "other", title: "Other", setup: (host) => ({ widgets: { pages_top: pagesCard(() => host) } }) })
  expect(await startInstance({ plugins: [cards().plugin, other] }).catch((error: unknown) => error)).toMatchObject({
    exit: "configuration",
    message: "The plugin other: the widget pages_top is already taken by the plugin cards",
  })
})
