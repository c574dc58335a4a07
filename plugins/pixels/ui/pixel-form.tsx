import { Checkbox, EditorFrame, type EditorProps, Problem, SelectField, TextField } from "#plugin/ui"
import { KINDS, LIMITS, type PixelKind, USUAL } from "../pixel.ts"
import type { PixelResponse } from "../responses.ts"
import { KIND_LABELS, PIXELS } from "./answers.ts"

interface Draft {
  name: string
  kind: PixelKind
  slug: string
  force: boolean
  /** Separated by commas. */
  params: string
  hashes: boolean
  badge: boolean
}

const draftOf = (pixel: PixelResponse | undefined): Draft => ({
  name: pixel?.name ?? "",
  kind: pixel?.kind ?? "email",
  slug: pixel?.slug ?? "",
  force: false,
  params: (pixel?.allowed_params ?? USUAL.allowed_params).join(", "),
  hashes: (pixel?.recipient_mode ?? USUAL.recipient_mode) === "hashed",
  badge: pixel?.badge_public ?? USUAL.badge_public,
})

const namesIn = (text: string): string[] => [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "")

const bodyOf = ({ name, kind, slug, force, params, hashes, badge }: Draft) => ({
  name: name.trim(),
  kind,
  ...(slug.trim() !== "" && { slug: slug.trim() }),
  ...(force && { force }),
  allowed_params: namesIn(params),
  recipient_mode: hashes ? "hashed" : "none",
  badge_public: badge,
})

/** Returns the names and values of the fields as text. */
const describe = ({ name, kind, slug, params, hashes, badge }: Draft) =>
  [
    ["Name", name],
    ["Used in", KIND_LABELS[kind]],
    ["Slug", slug],
    ["Parameters", params],
    ["Recipients", hashes ? "stored as a hash" : "not stored"],
    ["Badge", badge ? "shows the opens" : "neutral"],
  ] as const

/** Dialog that creates or edits a pixel. */
export default function PixelForm(props: EditorProps<PixelResponse>) {
  return (
    <EditorFrame<PixelResponse, Draft> {...props} of={PIXELS} draftOf={draftOf} bodyOf={bodyOf} describe={describe}>
      {({ draft, set, errorOf, problem }) => (
        <>
          <TextField
            label="Name"
            value={draft.name}
            onValue={(name) => set({ name })}
            error={errorOf("/name")}
            maxLength={LIMITS.nameChars}
            autofocus
          />
          <SelectField
            label="Used in"
            value={draft.kind}
            onValue={(kind) => set({ kind: kind as PixelKind })}
            options={KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind] }))}
            error={errorOf("/kind")}
          />
          <TextField
            label="Slug"
            code
            value={draft.slug}
            onValue={(slug) => set({ slug, force: false })}
            error={errorOf("/slug") ?? slugError(problem)}
            note={props.item ? "Images with the old slug are no longer counted." : "Leave empty for a random slug."}
            autocomplete="off"
          />
          {problem instanceof Problem && problem.code === "slug_recently_used" && (
            <Checkbox
              label="Use this slug anyway"
              note="Opens of old emails and pages that still contain it are counted here."
              checked={draft.force}
              onChange={(force) => set({ force })}
            />
          )}
          <TextField
            label="Parameters to store"
            code
            value={draft.params}
            onValue={(params) => set({ params })}
            error={paramError(errorOf)}
            note={`Up to ${LIMITS.params} names, separated by commas, such as issue. Other parameters are dropped.`}
            autocomplete="off"
          />
          <Checkbox
            label="Distinguish recipients"
            note="The parameter r identifies a recipient. Only a keyed hash of it is stored, so recipients stay anonymous."
            checked={draft.hashes}
            onChange={(hashes) => set({ hashes })}
          />
          {draft.kind === "readme" && (
            <Checkbox
              label="Show the number of opens on the badge"
              note="Everyone who sees the badge can read it. The number is rounded and covers all time."
              checked={draft.badge}
              onChange={(badge) => set({ badge })}
            />
          )}
        </>
      )}
    </EditorFrame>
  )
}

const slugError = (problem: Error | undefined): string | undefined =>
  problem instanceof Problem && /slug/.test(problem.code) ? problem.message : undefined

/** Returns the error of the list of parameters or of one of them. */
const paramError = (errorOf: (pointer: string) => string | undefined): string | undefined =>
  [errorOf("/allowed_params"), ...Array.from({ length: LIMITS.params + 1 }, (_, place) => errorOf(`/allowed_params/${place}`))].find(
    (error) => error !== undefined,
  )
