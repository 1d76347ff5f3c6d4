/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks: a head, open, statements, close. What the head found out waits in
 * `pending` for the brace; the frame keeps where the next node goes.
 */
#include <assert.h>

#include "compiler/ast_parts.h"

/* ---- blocks ------------------------------------------------------------- */

/* Ends a head: its verdict goes with the block that follows. */
static void set_pending(
	struct ast_builder *b, enum ast_block block, struct ast_stmt *stmt)
{
	const struct ast_frame *frame = &b->frames[b->depth];
	bool good = ast_end(b);

	b->pending = (struct ast_frame){.block = block, .bad = !good, .stmt = stmt};
	/* `write` needs a mode around it. Where the block itself is misplaced that
	 * is said once, not again for what stands in it. */
	b->pending.grants = block == BLOCK_ON ? frame->grants : block != BLOCK_POLICY;
}

void ast_build_policy_head(struct ast_builder *b, struct span span,
	const struct ast_raw *name, const struct ast_raw *extends)
{
	struct ast_policy *policy = arena_alloc(b->arena, sizeof(*policy));

	ast_check_place(b, span, HEAD_POLICY);
	policy->name = ast_take_name(b, name, "a policy");
	if (extends)
		policy->extends = ast_take_name(b, extends, "a policy");
	set_pending(b, BLOCK_POLICY, NULL);
	b->pending.policy = policy;
}

void ast_build_mode_head(
	struct ast_builder *b, struct span span, const struct ast_raw *mode)
{
	struct ast_stmt *stmt = ast_new_stmt(b, AST_MODE, span);

	ast_check_place(b, span, HEAD_MODE);
	stmt->u.block.mode = ast_take_mode(b, mode);
	if (stmt->u.block.mode == MODE_DANGER_FULL_ACCESS) {
		struct diag *diag = diag_report(b->diags, CODE_E020, mode->span,
			"danger-full-access is unconfined and has no block");
		diag_help(b->diags, diag, "no rule holds in this mode");
		b->bad = true;
	}
	set_pending(b, BLOCK_MODE, stmt);
}

void ast_build_on_head(struct ast_builder *b, struct span span, unsigned platforms)
{
	struct ast_stmt *stmt = ast_new_stmt(b, AST_ON, span);

	ast_check_place(b, span, HEAD_ON);
	stmt->u.on.platforms = platforms;
	set_pending(b, BLOCK_ON, stmt);
}

void ast_build_expect_head(struct ast_builder *b, struct span span,
	const struct ast_raw *mode, unsigned platforms)
{
	struct ast_stmt *stmt = ast_new_stmt(b, AST_EXPECT, span);

	ast_check_place(b, span, HEAD_EXPECT);
	stmt->u.expect.mode = ast_take_mode(b, mode);
	stmt->u.expect.platforms = platforms;
	set_pending(b, BLOCK_EXPECT, stmt);
}

void ast_build_plain_head(struct ast_builder *b, struct span span, enum ast_head head)
{
	static const enum ast_kind kinds[BLOCK_COUNT] = {[BLOCK_LADDER] = AST_LADDER,
		[BLOCK_GUARD] = AST_GUARD,
		[BLOCK_LIMITS] = AST_LIMITS,
		[BLOCK_ENVIRONMENT] = AST_ENVIRONMENT};
	enum ast_block block = ast_head_block(head);

	ast_check_place(b, span, head);
	set_pending(b, block, ast_new_stmt(b, kinds[block], span));
}

void ast_build_broken_head(struct ast_builder *b, enum ast_block block)
{
	b->bad = true;
	set_pending(b, block, NULL);
}

/* Where the first node of a block goes. */
static void *first_of(struct ast_builder *b, struct ast_frame *frame)
{
	/* What hangs on a node that is never appended is forgotten with it. */
	struct ast_stmt *stmt = frame->stmt ? frame->stmt
					    : ast_new_stmt(b, AST_RULE, frame->brace);

	switch (frame->block) {
	case BLOCK_POLICY: return frame->policy ? &frame->policy->body : &stmt->next;
	case BLOCK_MODE: return &stmt->u.block.body;
	case BLOCK_ON: return &stmt->u.on.body;
	case BLOCK_LADDER: return &stmt->u.edges;
	case BLOCK_EXPECT: return &stmt->u.expect.list;
	case BLOCK_GUARD: return &stmt->u.guards;
	case BLOCK_LIMITS: return &stmt->u.limits;
	case BLOCK_ENVIRONMENT: return &stmt->u.environment;
	case BLOCK_FILE:
	case BLOCK_UNKNOWN:
	case BLOCK_COUNT: break;
	}
	return NULL;
}

void ast_build_open(struct ast_builder *b, struct span brace)
{
	assert(b->depth < AST_NESTING_MAX + 1);
	struct ast_frame *frame = &b->frames[++b->depth];

	*frame = b->pending;
	frame->brace = brace;
	frame->tail = first_of(b, frame);
	b->pending = ast_unknown_block;
}

void ast_build_close(struct ast_builder *b)
{
	struct ast_frame *frame = &b->frames[b->depth];

	assert(b->depth > 0);
	b->depth--;
	b->bad = frame->bad;
	if (frame->policy && ast_end(b)) {
		*b->policies = frame->policy;
		b->policies = &frame->policy->next;
	} else if (frame->stmt) {
		ast_append(b, frame->stmt);
	}
	ast_end(b);
}
