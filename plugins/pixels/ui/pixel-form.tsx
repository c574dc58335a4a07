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
    ["Kind", KIND_WORDS[kind]],
    ["Slug", slug],
    ["Parameters", params],
    ["Recipients", hashes ? "as a hash" : "not kept"],
    ["Badge", badge ? "tells the opens" : "neutral"],
  ] as const

interface PixelFormProps {
  siteId: number
  /** Undefined: a new one is made. */
  pixel?: PixelAnswer
  onSaved?(pixel: PixelAnswer): void
  onClose(): void
}

/** A pixel with what is kept of its opens. */
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
    toast(pixel ? `${saved.name} saved` : `${saved.name} made`)
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
    <Dialog title={pixel ? `Change ${visible(pixel.name)}` : "Make a pixel"} onClose={onClose}>
      <Form submit={submit} label={pixel ? "Change the pixel" : "Make a pixel"}>
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
              label="Where it is put"
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
              note={pixel ? "Pictures with the old slug count no more." : "Empty: ten characters are chosen."}
              autocomplete="off"
            />
            {problem instanceof Problem && problem.code === "slug_recently_used" && (
              <Choice
                label="Take it all the same"
                note="Old mails and pages that still have it are counted here."
                checked={draft.force}
                onChange={(force) => set({ force })}
              />
            )}
            <TextField
              label="Parameters to keep"
              code
              value={draft.params}
              onValue={(params) => set({ params })}
              error={paramError(errorOf)}
              note={`Up to ${LIMITS.params} names with commas, such as issue. Others are dropped.`}
              autocomplete="off"
            />
            <Choice
              label="Tell recipients apart"
              note="The parameter r names one. Only a keyed hash of it is kept, so nobody can be named from it."
              checked={draft.hashes}
              onChange={(hashes) => set({ hashes })}
            />
            {draft.kind === "readme" && (
              <Choice
                label="The badge tells the opens to everybody"
                note="Rounded, since it was made. Otherwise it is neutral."
                checked={draft.badge}
                onChange={(badge) => set({ badge })}
              />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {pixel ? "Save pixel" : "Make pixel"}
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
