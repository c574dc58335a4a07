import { describe, expect, test } from "bun:test"
import { hiddenGroups, isSmall, tellsSmallGroup } from "../small-groups.ts"

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

  test("a number is hidden if leaving out a filter changes it by a small group", () => {
    expect(tellsSmallGroup(20, [20, 23], 5)).toBe(true)
    expect(tellsSmallGroup(20, [20, 25, 90], 5)).toBe(false)
  })
})
