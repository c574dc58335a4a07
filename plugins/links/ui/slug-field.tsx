import { useQuery } from "@tanstack/react-query"
import { Checkbox, get, Problem, TextField, useDebouncedValue } from "#plugin/ui"
import type { LinkResponse, SlugCheckResponse } from "../responses.ts"
import { linksPath } from "./answers.ts"
import type { FieldsProps } from "./editor.tsx"

const MESSAGES: Readonly<Record<string, string>> = {
  slug_taken: "This slug is taken.",
  slug_recently_used: "This slug was used by a deleted link and is reserved for 90 days.",
  slug_reserved: "This word is reserved. Choose another slug.",
  invalid_slug: "Use 1 to 64 letters, digits, hyphens and underscores.",
}
const DEBOUNCE_MS = 250

interface SlugFieldProps extends FieldsProps {
  siteId: number
  own: LinkResponse | undefined
  problem: Error | undefined
}

/** Slug of the short URL. Checks whether it is available when typing pauses and offers similar slugs. */
export function SlugField({ siteId, draft, set, errorOf, own, problem }: SlugFieldProps) {
  const slug = useDebouncedValue(draft.slug.trim(), DEBOUNCE_MS)
  const isOwn = own !== undefined && slug === own.slug && draft.domain === (own.domain_id === null ? "" : String(own.domain_id))
  const { data } = useQuery({
    queryKey: ["slug-check", siteId, slug, draft.domain, problem],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ slug, ...(draft.domain !== "" && { domain_id: draft.domain }) })
      return get<SlugCheckResponse>(`${linksPath(siteId)}/slug-check?${query}`, signal)
    },
    enabled: slug !== "" && slug.length <= 200 && !isOwn,
    gcTime: 0,
  })
  const check = slug === "" || slug !== draft.slug.trim() || isOwn ? undefined : data
  const refused = check?.available === false && !draft.force ? (MESSAGES[check.reason ?? ""] ?? "This slug isn't available.") : undefined
  const conflict = problem instanceof Problem && problem.code in MESSAGES && !check ? MESSAGES[problem.code] : undefined
  return (
    <div class="stack slug-field">
      <TextField
        label="Slug"
        code
        value={draft.slug}
        onValue={(value) => set({ slug: value, force: false })}
        error={errorOf("/slug") ?? refused ?? conflict}
        note={
          <span aria-live="polite">
            {check?.available ? "Available." : own ? "The last part of the short URL." : "Leave empty for a random slug."}
          </span>
        }
        autocomplete="off"
      />
      {refused && check?.suggestions && (
        <div class="row small" role="group" aria-label="Available slugs">
          <span class="quiet">Available:</span>
          {check.suggestions.map((suggestion) => (
            <button key={suggestion} type="button" class="text-button" onClick={() => set({ slug: suggestion })}>
              {suggestion}
            </button>
          ))}
        </div>
      )}
      {check?.reason === "slug_recently_used" && (
        <Checkbox
          label="Use this slug anyway"
          note="Visitors with the old short URL are redirected to the new destination."
          checked={draft.force}
          onChange={(force) => set({ force })}
        />
      )}
    </div>
  )
}
