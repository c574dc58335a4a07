import { describe, expect, test } from "bun:test"
import { hiddenGroups, isSmall } from "../small-groups.ts"

describe("small groups of people", () => {
  test("a group is small from one person up to one below the minimum", () => {
    expect([0, 1, 4, 5].map((people) => isSmall(people, 5))).toEqual([false, true, true, false])
  })

  test("the smallest other group is hidden while the hidden ones together are small", () => {
    expect(hiddenGroups([40, 12, 3], 5)).toEqual([false, true, true])
  })

  test("two small groups that are large enough together hide nobody else", () => {
    expect(hiddenGroups([40, 4, 3], 5)).toEqual([false, true, true])
  })

  test("every group is shown to those who may see people", () => {
    expect(hiddenGroups([40, 1, 0], 0)).toEqual([false, false, false])
  })

  test("empty groups stay shown, because zero is no group", () => {
    expect(hiddenGroups([0, 7, 2, 0], 5)).toEqual([false, true, true, false])
  })

  test("a large group that must be hidden is not the only one, because it would follow from the total", () => {
    const second = (index: number) => index === 1
    expect(hiddenGroups([40, 30, 20], 5, second)).toEqual([false, true, true])
    expect(hiddenGroups([40, 30, 3], 5, second)).toEqual([false, true, true])
    expect(hiddenGroups([0, 30], 5, second)).toEqual([false, true])
  })
})
