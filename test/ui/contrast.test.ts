import { describe, expect, test } from "bun:test"
import { join } from "node:path"

const css = await Bun.file(join(import.meta.dir, "../../src/ui/styles/tokens.css")).text()

/** Returns the colours of a block of the style sheet. */
function tokensOf(selector: string): Record<string, string> {
  const start = css.indexOf(`${selector} {`)
  const block = css.slice(start, css.indexOf("}", start))
  return Object.fromEntries([...block.matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name!, colour!]))
}

/** Returns the relative luminance as defined by WCAG 2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light! + 0.05) / (dark! + 0.05)
}

const themes = { light: tokensOf(":root"), dark: tokensOf(':root[data-theme="dark"]') }

const TEXT = ["ink", "ink-2", "ink-3", "accent", "comparison", "up", "down", "warn"]
const SERIES = ["series-1", "series-2", "series-3", "series-4", "series-5"]

describe.each(Object.entries(themes))("%s", (_, theme) => {
  const colour = (name: string): string => theme[name] ?? themes.light[name]!

  test.each(TEXT.flatMap((name) => ["surface", "bg"].map((foundation) => [name, foundation] as const)))(
    "%s is legible on %s",
    (name, foundation) => {
      expect(contrast(colour(name), colour(foundation))).toBeGreaterThanOrEqual(4.5)
    },
  )

  test.each(SERIES)("%s is distinguishable from the surface and legible as a label on it", (name) => {
    expect(contrast(colour(name), colour("surface"))).toBeGreaterThanOrEqual(4.5)
  })

  test.each(["control", "focus"])("%s is distinguishable from the surface and from the page", (name) => {
    expect(contrast(colour(name), colour("surface"))).toBeGreaterThanOrEqual(3)
    expect(contrast(colour(name), colour("bg"))).toBeGreaterThanOrEqual(3)
  })

  test.each([
    ["on-accent", "accent"],
    ["ink", "bar"],
    ["ink", "bar-hover"],
    ["ink", "heat-1"],
    ["ink", "heat-2"],
    ["ink", "heat-3"],
    ["on-accent", "heat-4"],
    ["on-accent", "heat-5"],
  ])("%s is legible on %s", (name, foundation) => {
    expect(contrast(colour(name), colour(foundation))).toBeGreaterThanOrEqual(4.5)
  })
})

test("the dark theme is the same whether chosen or set by the system", () => {
  expect(tokensOf('  :root[data-theme="auto"]')).toEqual(themes.dark)
})

test("no style sheet uses a colour other than the tokens", async () => {
  const sheets = [...new Bun.Glob("**/*.css").scanSync({ cwd: join(import.meta.dir, "../../src/ui/styles"), absolute: true })]
  const found: string[] = []
  for (const sheet of sheets) {
    if (sheet.endsWith("tokens.css")) continue
    const text = await Bun.file(sheet).text()
    found.push(...[...text.matchAll(/#[0-9a-f]{3,8}\b/gi)].map(([colour]) => `${sheet.split("/").at(-1)}: ${colour}`))
  }
  expect(found).toEqual([])
})
