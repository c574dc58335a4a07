import { expect, test } from "bun:test"
import { boxAfter, flowLayout } from "../../src/ui/screens/journeys/flow-layout.ts"

const node = (page: string, visits: number) => ({ kind: "page" as const, page, visits, conversion_rate: 0 })
const edge = (column: number, from_node: number, to_node: number, visits: number) => ({
  column,
  from: "",
  to: "",
  from_node,
  to_node,
  visits,
})
const columns = [[node("/", 100)], [node("/a", 60), node("/b", 30), node("/c", 10)]]
const edges = [edge(0, 0, 0, 60), edge(0, 0, 1, 30), edge(0, 0, 2, 10)]

test("the height of a box is proportional to its visits, with a minimum for touch", () => {
  const { boxes, width, height } = flowLayout({ columns, edges, mode: "start" })
  expect(boxes.map((column) => column.map(({ x, y, height, bar }) => [x, y, height, bar]))).toEqual([
    [[0, 0, 260, 260]],
    [
      [232, 0, 156, 156],
      [232, 162, 78, 78],
      [232, 246, 44, 26],
    ],
  ])
  expect([width, height]).toEqual([2 * 176 + 56, 290])
})

test("two columns and a part of the third are visible on a phone of 375 px", () => {
  const { boxes, columnWidth } = flowLayout({ columns: [...columns, [node("/d", 1)]], edges, mode: "start" }, true)
  const visible = 375 - 2 * 16 - 2 * 17 // without the gutters of the page, and the padding and border of the card
  expect(boxes[1]![0]!.x + columnWidth).toBeLessThan(visible)
  expect(boxes[2]![0]!.x + 20).toBeLessThan(visible)
})

test("bands are stacked and fill the side of their box", () => {
  const { bands } = flowLayout({ columns, edges: edges.toReversed(), mode: "start" })
  expect(bands.map(({ path }) => path)).toEqual([
    "M176 0C204 0 204 0 232 0V156C204 156 204 156 176 156Z",
    "M176 156C204 156 204 162 232 162V240C204 240 204 234 176 234Z",
    "M176 234C204 234 204 255 232 255V281C204 281 204 260 176 260Z",
  ])
})

test("journeys to an end are mirrored, so that time runs to the right", () => {
  const { boxes, bands } = flowLayout({ columns, edges, mode: "end" })
  expect(boxes[0]![0]!.x).toBe(232)
  expect(boxes[1]![0]!.x).toBe(0)
  expect(bands[0]!.path).toStartWith("M232 0C204 0")
})

test("ignores an edge to a missing node", () => {
  expect(flowLayout({ columns, edges: [edge(0, 0, 9, 5), edge(1, 0, 0, 5)], mode: "start" }).bands).toEqual([])
})

test.each([
  ["ArrowRight", "start", [0, 0], [1, 0]],
  ["ArrowLeft", "start", [1, 2], [0, 0]],
  ["ArrowRight", "end", [1, 1], [0, 0]],
  ["ArrowDown", "start", [1, 0], [1, 1]],
  ["ArrowUp", "start", [1, 0], undefined],
  ["End", "start", [1, 0], [1, 2]],
  ["Home", "start", [1, 2], [1, 0]],
  ["ArrowRight", "start", [1, 0], undefined],
  ["a", "start", [1, 0], undefined],
] as const)("%s in %s mode goes from %p to %p", (key, mode, [column, row], expected) => {
  const layout = flowLayout({ columns, edges, mode })
  const box = boxAfter(layout, { column, row }, key, mode)
  expect(box && [box.column, box.row]).toEqual(expected as never)
})
