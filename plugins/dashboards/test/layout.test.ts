import { describe, expect, test } from "bun:test"
import { LIMITS as SERVER } from "../board.ts"
import { fitted, freePlace, type Placed, placeAfterKey, placed, withoutGaps } from "../ui/edit/layout.ts"
import { LIMITS } from "../ui/limits.ts"

const at = (key: string, x: number, y: number, w = 4, h = 2): Placed => ({ key, x, y, w, h })
const places = (widgets: readonly Placed[]): string[] => widgets.map(({ key, x, y, w, h }) => `${key} ${x},${y} ${w}×${h}`)

describe("placing a widget", () => {
  test("moves those in its way down, and those below them", () => {
    const board = [at("a", 0, 0), at("b", 4, 0), at("c", 4, 2)]
    expect(places(placed(board, "a", { x: 4, y: 0, w: 4, h: 2 }))).toEqual(["a 4,0 4×2", "b 4,2 4×2", "c 4,4 4×2"])
  })

  test("leaves everything else where it is", () => {
    const board = [at("a", 0, 0), at("b", 4, 0), at("c", 8, 5)]
    expect(places(placed(board, "a", { x: 0, y: 7, w: 4, h: 2 }))).toEqual(["a 0,7 4×2", "b 4,0 4×2", "c 8,5 4×2"])
  })

  test("keeps it within the grid and at least as large as its type allows", () => {
    const least = { min_w: 3, min_h: 2 }
    expect(fitted({ x: 11, y: -1, w: 2, h: 1 }, least)).toEqual({ x: 9, y: 0, w: 3, h: 2 })
    expect(fitted({ x: 0, y: 600, w: 20, h: 20 }, least)).toEqual({ x: 0, y: 500, w: 12, h: 12 })
  })
})

test("finds the first free place of a size", () => {
  const board = [at("a", 0, 0, 6, 2), at("b", 8, 0, 4, 3)]
  expect(freePlace(board, { w: 2, h: 2 })).toEqual({ x: 6, y: 0, w: 2, h: 2 })
  expect(freePlace(board, { w: 6, h: 2 })).toEqual({ x: 0, y: 2, w: 6, h: 2 })
  expect(freePlace(board, { w: 12, h: 1 })).toEqual({ x: 0, y: 3, w: 12, h: 1 })
})

test("closes gaps by moving every widget up as far as it can go", () => {
  expect(places(withoutGaps([at("a", 0, 3), at("b", 0, 9), at("c", 4, 4)]))).toEqual(["a 0,0 4×2", "b 0,2 4×2", "c 4,0 4×2"])
})

test.each([
  ["ArrowRight", false, { x: 2, y: 3, w: 4, h: 2 }],
  ["ArrowUp", false, { x: 1, y: 2, w: 4, h: 2 }],
  ["ArrowRight", true, { x: 1, y: 3, w: 5, h: 2 }],
  ["ArrowUp", true, { x: 1, y: 3, w: 4, h: 1 }],
  ["Enter", false, undefined],
] as const)("the key %s with Shift %p", (key, shiftKey, place) => {
  expect(placeAfterKey({ x: 1, y: 3, w: 4, h: 2 }, { key, shiftKey })).toEqual(place)
})

test("the screens know the limits of the server", () => {
  expect(LIMITS).toEqual({ ...LIMITS, ...Object.fromEntries(Object.entries(SERVER).filter(([name]) => name in LIMITS)) })
})
