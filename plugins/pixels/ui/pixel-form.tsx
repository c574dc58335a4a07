import { useState } from "preact/hooks"
import {
  Button,
  Choice,
  currentOf,
  Dialog,
  Form,
  Problem,
  patch,
  post,
  SelectField,
  TextField,
  TwoVersions,
  toast,
  visible,
} from "#plugin/ui"
import { KINDS, LIMITS, type PixelKind, USUAL } from "../pixel.ts"
import { type PixelAnswer, pixelsPath, useRefresh } from "./answers.ts"
import { KIND_WORDS } from "./kinds.ts"

interface Draft {
  name: string
  kind: PixelKind
  slug: string
  force: boolean
  /** With commas. */
  params: string
  hashes: boolean
  badge: boolean
}

const draftOf = (pixel: PixelAnswer | undefined): Draft => ({
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

const wordsOf = ({ name, kind, slug, params, hashes, badge }: Draft) =>
  [
    ["Name", name],
    ["Used in", KIND_WORDS[kind]],
    ["Slug", slug],
    ["Parameters", params],
    ["Recipients", hashes ? "stored as a hash" : "not stored"],
    ["Badge", badge ? "shows the opens" : "neutral"],
  ] as const

interface PixelFormProps {
  siteId: number
  /** Pixel to edit. Undefined creates a new one. */
  pixel?: PixelAnswer
  onSaved?(pixel: PixelAnswer): void
  onClose(): void
}

/** Dialog that creates or edits a pixel. */
export default function PixelForm({ siteId, pixel, onSaved, onClose }: PixelFormProps) {
  const refresh = useRefresh(siteId)
  const [draft, setDraft] = useState(() => draftOf(pixel))
  const [theirs, setTheirs] = useState<PixelAnswer>()
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const save = async (version: number | undefined) => {
    const body = bodyOf(draft)
    const saved = pixel
      ? await patch<PixelAnswer>(`${pixelsPath(siteId)}/${pixel.id}`, { ...body, version })
      : await post<PixelAnswer>(pixelsPath(siteId), body)
    await refresh()
    toast(pixel ? `${saved.name} saved` : `${saved.name} created`)
    onSaved?.(saved)
    onClose()
  }
  const submit = async () => {
    try {
      await save(pixel?.version)
    } catch (error) {
      const current = currentOf<PixelAnswer>(error)
      if (!current?.version) throw error
      setTheirs(current)
    }
  }
  if (theirs)
    return (
      <TwoVersions
        mine={wordsOf(draft)}
        theirs={wordsOf(draftOf(theirs))}
        onMine={() => save(theirs.version)}
        onTheirs={async () => {
          await refresh()
          onClose()
        }}
        onClose={() => setTheirs(undefined)}
      />
    )
  return (
    <Dialog title={pixel ? `Edit ${visible(pixel.name)}` : "New pixel"} onClose={onClose}>
      <Form submit={submit} label={pixel ? "Edit pixel" : "New pixel"}>
        {({ busy, errorOf, problem }) => (
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
              options={KINDS.map((kind) => ({ value: kind, label: KIND_WORDS[kind] }))}
              error={errorOf("/kind")}
            />
            <TextField
              label="Slug"
              code
              value={draft.slug}
              onValue={(slug) => set({ slug, force: false })}
              error={errorOf("/slug") ?? slugWords(problem)}
              note={pixel ? "Images with the old slug are no longer counted." : "Leave empty for a random slug."}
              autocomplete="off"
            />
            {problem instanceof Problem && problem.code === "slug_recently_used" && (
              <Choice
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
            <Choice
              label="Distinguish recipients"
              note="The parameter r identifies a recipient. Only a keyed hash of it is stored, so recipients stay anonymous."
              checked={draft.hashes}
              onChange={(hashes) => set({ hashes })}
            />
            {draft.kind === "readme" && (
              <Choice
                label="Show the number of opens on the badge"
                note="Everyone who sees the badge can read it. The number is rounded and covers all time."
                checked={draft.badge}
                onChange={(badge) => set({ badge })}
              />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {pixel ? "Save changes" : "Create pixel"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const slugWords = (problem: Error | undefined): string | undefined =>
  problem instanceof Problem && /slug/.test(problem.code) ? problem.message : undefined

/** One of them may be wrong, or all of them too many. */
const paramError = (errorOf: (pointer: string) => string | undefined): string | undefined =>
  [errorOf("/allowed_params"), ...Array.from({ length: LIMITS.params + 1 }, (_, place) => errorOf(`/allowed_params/${place}`))].find(
    (error) => error !== undefined,
  )
