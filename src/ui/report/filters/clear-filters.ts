import type { AddressOfSite } from "../address.ts"
import { toast } from "../toasts.ts"

/** Takes all filters away, and offers them back. */
export function clearFilters({ address: { filters, segment, cohort }, go }: Pick<AddressOfSite, "address" | "go">): void {
  go({ filters: [], segment: undefined, cohort: undefined })
  toast("Filters cleared", () => go({ filters, segment, cohort }))
}
