/** The filters of a segment, and how they become those of a page. */
import type { SegmentFilter } from "../../../domain/segment.ts"
import { type AddressFilter, MAX_FILTERS, type SiteAddress } from "../../../domain/site-address.ts"
import { addressFilters, useFilterTexts } from "./filters.ts"

type FilterLists = Pick<SiteAddress, "filters" | "any">

/** Returns the filters of a page as a segment has them. */
export const segmentFilters = ({ filters, any }: FilterLists): SegmentFilter[] => [...filters, ...(any.length > 0 ? [{ any }] : [])]

/** Returns the filters of a page together with those of a segment, or undefined if a page can't hold them: it has one group of alternatives. */
export function withSegment({ filters, any }: FilterLists, saved: readonly SegmentFilter[]): FilterLists | undefined {
  const lists = listsOf(saved)
  // A group of one is a filter like any other.
  const groups = [any, ...lists].filter(({ length }) => length > 1)
  const joined = { filters: [...filters, ...lists.filter(({ length }) => length === 1).flat()], any: groups[0] ?? [] }
  return groups.length < 2 && joined.filters.length + joined.any.length <= MAX_FILTERS ? joined : undefined
}

/** Returns one sentence for each part of a segment, with the names of codes. */
export function useSegmentTexts(saved: readonly SegmentFilter[]): string[] {
  const lists = listsOf(saved)
  const texts = useFilterTexts(lists.flat()) // a new array
  return lists.map(({ length }) => texts.splice(0, length).join(" or "))
}

/** Returns the alternatives of each part of a segment: several filters, or a single one. */
const listsOf = (saved: readonly SegmentFilter[]): AddressFilter[][] => saved.map((one) => addressFilters("any" in one ? one.any : [one]))
