import { Link } from "wouter"
import { type Column, CutText, copyText, exact, IconButton, Moment, short, visible } from "#plugin/ui"
import type { LinkListed } from "./answers.ts"
import { LinkMenu } from "./link-menu.tsx"
import { SparkPair } from "./spark-pair.tsx"

interface LinkColumnsProps {
  siteId: number
  /** The next three are set for users who can change links. */
  chosen?: ReadonlySet<number>
  onChosen?(chosen: ReadonlySet<number>): void
  onEdit?(link: LinkListed): void
  onTag(tag: string): void
}

/** Columns of the list of links. */
export function linkColumns({ siteId, chosen, onChosen, onEdit, onTag }: LinkColumnsProps): Column<LinkListed>[] {
  return [
    {
      id: "slug",
      label: "Slug",
      cell: (link) => (
        <div class="link-name">
          {chosen && onChosen && (
            <input
              type="checkbox"
              aria-label={`Select ${visible(link.slug)}`}
              checked={chosen.has(link.id)}
              onChange={(event) => onChosen(withId(chosen, link.id, event.currentTarget.checked))}
            />
          )}
          <div>
            <Link href={`/sites/${siteId}/links/${link.id}`}>{visible(link.slug)}</Link>
            <StateBadges link={link} />
            {link.title !== "" && <p class="small quiet">{visible(link.title)}</p>}
          </div>
        </div>
      ),
    },
    { id: "target", label: "Destination", cell: (link) => <Target link={link} /> },
    { id: "human", label: "Human clicks", number: true, cell: ({ clicks }) => <Count of={clicks.human} /> },
    { id: "bot", label: "Bot clicks", number: true, cell: ({ clicks }) => <Count of={clicks.bot} /> },
    {
      id: "spark",
      label: "30 days",
      cell: ({ slug, sparkline }) =>
        sparkline ? <SparkPair label={`Clicks of ${slug}, 30 days`} {...sparkline} /> : <span class="quiet">n/a</span>,
    },
    { id: "last", label: "Last click", cell: ({ last_click_at }) => <Moment at={last_click_at} /> },
    { id: "tags", label: "Tags", cell: ({ tags }) => <Tags tags={tags} onTag={onTag} /> },
    {
      id: "actions",
      label: "Actions",
      cell: (link) => (
        <div class="goal-acts">
          <IconButton icon="copy" label={`Copy ${visible(link.short_url)}`} onClick={() => void copyText(link.short_url)} />
          {onEdit && <LinkMenu siteId={siteId} link={link} onEdit={() => onEdit(link)} />}
        </div>
      ),
    },
  ]
}

const withId = (ids: ReadonlySet<number>, id: number, isIn: boolean): ReadonlySet<number> =>
  isIn ? new Set([...ids, id]) : new Set([...ids].filter((one) => one !== id))

const Count = ({ of }: { of: number }) => <span title={exact(of)}>{short(of)}</span>

/** Badges for archived and expired links and for links with a password. */
export const StateBadges = ({ link }: { link: LinkListed }) => (
  <>
    {link.state !== "active" && (
      <>
        {" "}
        <span class="badge">{link.state === "archived" ? "archived" : "expired"}</span>
      </>
    )}
    {link.has_password && (
      <>
        {" "}
        <span class="badge">password</span>
      </>
    )}
  </>
)

const Target = ({ link }: { link: LinkListed }) => (
  <div class="link-target">
    <CutText text={link.destination} />
    {link.rules.length > 0 && (
      <p class="small quiet">
        and {link.rules.length} {link.rules.length === 1 ? "rule" : "rules"}
      </p>
    )}
  </div>
)

const Tags = ({ tags, onTag }: { tags: readonly string[]; onTag(tag: string): void }) => (
  <div class="row">
    {tags.map((tag) => (
      <button key={tag} type="button" class="text-button" title={`Links with the tag ${visible(tag)}`} onClick={() => onTag(tag)}>
        {visible(tag)}
      </button>
    ))}
  </div>
)
