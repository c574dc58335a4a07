import type { AddressOfSite } from "../../browser/address.ts"
import { toast } from "../../browser/toasts.ts"

/** Removes all filters and shows a toast with *Undo*. */
export function clearFilters({ address: { filters, segment, cohort }, go }: Pick<AddressOfSite, "address" | "go">): void {
  go({ filters: [], segment: undefined, cohort: undefined })
  toast("Filters cleared", () => go({ filters, segment, cohort }))
}
