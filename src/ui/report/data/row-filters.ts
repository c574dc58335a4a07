import type { AddressFilter } from "../../../domain/site-address.ts"
import { isFilteredBy, toggledFilter } from "../../browser/address.ts"
import type { CardTab } from "./card-tabs.ts"

type Split = Pick<CardTab, "dimension" | "property" | "also">

const keyOf = ({ dimension, property }: Split) => ({ dimension, ...(property !== undefined && { property }) })

export const isRowChosen = (filters: readonly AddressFilter[], { dimension, property }: Split, value: string): boolean =>
  isFilteredBy(filters, dimension, value, property)

/** Returns the filters after a click on a row. Adds its value and the filter of the tab, or removes both if the row was selected. */
export function filtersAfter(filters: readonly AddressFilter[], tab: Split, value: string): AddressFilter[] {
  const { also } = tab
  const toggled = toggledFilter(filters, keyOf(tab), value)
  if (!also) return toggled
  const others = toggled.filter((filter) => JSON.stringify(filter) !== JSON.stringify(also))
  return isRowChosen(toggled, tab, value) ? [...others, also] : others
}

export const filtersWithout = (filters: readonly AddressFilter[], tab: Split, value: string): AddressFilter[] =>
  toggledFilter(filters, { ...keyOf(tab), operator: "is_not" }, value)
