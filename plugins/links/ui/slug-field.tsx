import { useQuery } from "@tanstack/react-query"
import { Choice, get, Problem, TextField, useRested } from "#plugin/ui"
import { type LinkAnswer, linksPath } from "./answers.ts"
import type { FieldsProps } from "./editor.tsx"

interface Check {
  available: boolean
  reason?: string
  suggestions?: string[]
}

const WORDS: Readonly<Record<string, string>> = {
  slug_taken: "This slug is taken.",
  slug_recently_used: "This slug belonged to a link that was deleted lately.",
  slug_reserved: "The program has this word for itself.",
  invalid_slug: "A slug has 1 to 64 letters, digits, hyphens and underscores.",
}
const REST_MS = 250

interface SlugFieldProps extends FieldsProps {
  siteId: number
  own: LinkAnswer | undefined
  problem: Error | undefined
}

/** The end of the short address; whether it is free is asked when typing rests, and free ones like it are offered. */
export function SlugField({ siteId, draft, set, errorOf, own, problem }: SlugFieldProps) {
  const slug = useRested(draft.slug.trim(), REST_MS)
  const isOwn = own !== undefined && slug === own.slug && draft.domain === (own.domain_id === null ? "" : String(own.domain_id))
  const { data } = useQuery({
    queryKey: ["slug-check", siteId, slug, draft.domain, problem],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ slug, ...(draft.domain !== "" && { domain_id: draft.domain }) })
      return get<Check>(`${linksPath(siteId)}/slug-check?${query}`, signal)
    },
    enabled: slug !== "" && slug.length <= 200 && !isOwn,
    gcTime: 0,
  })
  const check = slug === "" || slug !== draft.slug.trim() || isOwn ? undefined : data
  const refused = check?.available === false && !draft.force ? (WORDS[check.reason ?? ""] ?? "This slug cannot be taken.") : undefined
  const told = problem instanceof Problem && problem.code in WORDS && !check ? WORDS[problem.code] : undefined
  return (
    <div class="stack slug-field">
      <TextField
        label="Slug"
        code
        value={draft.slug}
        onValue={(value) => set({ slug: value, force: false })}
        error={errorOf("/slug") ?? refused ?? told}
        note={
          <span aria-live="polite">
            {check?.available ? "Free." : own ? "The end of the short address." : "Empty: seven letters are chosen."}
          </span>
        }
        autocomplete="off"
      />
      {refused && check?.suggestions && (
        <div class="row small" role="group" aria-label="Free slugs">
          <span class="quiet">Free:</span>
          {check.suggestions.map((suggestion) => (
            <button key={suggestion} type="button" class="text-button" onClick={() => set({ slug: suggestion })}>
              {suggestion}
            </button>
          ))}
        </div>
      )}
      {check?.reason === "slug_recently_used" && (
        <Choice
          label="Take it all the same"
          note="Who still has the old address is led to the new target."
          checked={draft.force}
          onChange={(force) => set({ force })}
        />
      )}
    </div>
  )
}
