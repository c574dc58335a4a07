import {
  type Annotation,
  type AnnotationFields,
  annotationDay,
  annotationNotFound,
  parseAnnotation,
  patchAnnotation,
} from "../domain/annotation.ts"
import type { Clock } from "../domain/clock.ts"
import { THINGS } from "../domain/limits.ts"
import type { Site } from "../domain/site.ts"
import {
  annotationById,
  countAnnotations,
  deleteAnnotation,
  insertAnnotation,
  listAnnotations,
  updateAnnotation,
} from "../store/catalog/annotations.ts"
import type { Catalog, Slice } from "../store/catalog/catalog.ts"
import { createSiteThings, type SiteThings, type ThingKind } from "./site-things.ts"
import { slicesOf } from "./slices.ts"

/** Local days, both included. */
export interface Days {
  from: string
  to: string
}

export interface Annotations extends SiteThings<Annotation> {
  /** Those whose local day lies in a range, by id ascending. */
  listWithin(site: Site, days: Days, slice: Slice): Promise<Annotation[]>
}

export function createAnnotations({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Annotations {
  return {
    ...createSiteThings(ANNOTATIONS, { catalog, clock }),
    async listWithin(site, { from, to }, { after, limit }) {
      const found: Annotation[] = []
      for await (const slice of slicesOf((part) => listAnnotations(catalog, site.id, part), after)) {
        for (const annotation of slice) {
          const day = annotationDay(annotation, site.timezone)
          if (from <= day && day <= to) found.push(annotation)
          if (found.length === limit) return found
        }
      }
      return found
    },
  }
}

const ANNOTATIONS: ThingKind<Annotation, AnnotationFields> = {
  resource: "annotations",
  limit: THINGS.annotations,
  parse: parseAnnotation,
  patch: patchAnnotation,
  notFound: annotationNotFound,
  insert: insertAnnotation,
  byId: annotationById,
  list: listAnnotations,
  count: countAnnotations,
  update: updateAnnotation,
  delete: deleteAnnotation,
}
