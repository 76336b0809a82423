<?php
// Run by PHP's command line: blog.php WORDPRESS POSTS.json. Installs WordPress and writes the posts into it.
[, $root, $source] = $argv;
$blog = json_decode(file_get_contents($source), true, 512, JSON_THROW_ON_ERROR);
$_SERVER['HTTP_HOST'] = parse_url($blog['url'], PHP_URL_HOST) . ':' . parse_url($blog['url'], PHP_URL_PORT);
define('WP_INSTALLING', true);
require "$root/wp-load.php";
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

// A mail program may be missing, and nobody waits for the message.
add_filter('pre_wp_mail', '__return_true');
wp_install($blog['title'], $blog['authors'][0], 'editor@example.org', true, '', 'unused');
foreach (get_posts(['post_type' => ['post', 'page'], 'post_status' => 'any', 'numberposts' => -1]) as $example) {
    wp_delete_post($example->ID, true);
}
switch_theme('twentytwentyone');
$wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/');
update_option('default_ping_status', 'closed');

$authors = [];
foreach ($blog['authors'] as $name) {
    $user = get_user_by('login', $name);
    $authors[$name] = $user ? $user->ID : wp_insert_user(['user_login' => $name, 'user_pass' => $name, 'role' => 'author']);
}
$categories = ['Uncategorized' => (int) get_option('default_category')];
foreach ($blog['categories'] as $name => $parent) {
    $made = wp_insert_term($name, 'category', ['parent' => $categories[$parent] ?? 0]);
    $categories[$name] = is_wp_error($made) ? $made->get_error_data('term_exists') : $made['term_id'];
}

wp_defer_term_counting(true);
wp_defer_comment_counting(true);
wp_suspend_cache_invalidation(true);
$ids = [];
foreach ($blog['posts'] as $post) {
    $id = wp_insert_post(wp_slash([
        'post_type' => $post['type'],
        'post_status' => $post['status'],
        'post_name' => $post['name'],
        'post_title' => $post['title'],
        'post_date' => $post['date'],
        'post_author' => $authors[$post['author']],
        'post_parent' => $ids[$post['parent']] ?? 0,
        'post_content' => $post['content'],
        'post_category' => array_map(fn ($name) => $categories[$name], $post['categories']),
        'tags_input' => $post['tags'],
    ]), true);
    if (is_wp_error($id)) {
        throw new Exception($post['name'] . ': ' . $id->get_error_message());
    }
    $ids[$post['name']] = $id;
    foreach ($post['comments'] as $place => $comment) {
        $above = $place % 3 == 2 ? $last : 0;
        $last = wp_insert_comment(wp_slash([
            'comment_post_ID' => $id,
            'comment_parent' => $above,
            'comment_author' => $comment['author'],
            'comment_author_email' => $comment['author'] . '@example.org',
            'comment_content' => $comment['text'],
            'comment_date' => $comment['date'],
            'comment_date_gmt' => $comment['date'],
            'comment_approved' => 1,
        ]));
    }
}
wp_suspend_cache_invalidation(false);
wp_cache_flush();
wp_defer_term_counting(false);
wp_defer_comment_counting(false);

// Links inside the blog, now that every permalink is known.
foreach ($ids as $name => $id) {
    $content = get_post($id)->post_content;
    $linked = preg_replace_callback('~href="/\?fill=([^"]+)"~', fn ($found) => 'href="' . get_permalink($ids[$found[1]]) . '"', $content);
    $wpdb->update($wpdb->posts, ['post_content' => $linked], ['ID' => $id]);
}
flush_rewrite_rules(false);

// What the database says is published, by its permalinks.
wp_cache_flush();
$published = $wpdb->get_col("SELECT ID FROM $wpdb->posts WHERE post_status = 'publish' AND post_type IN ('post', 'page')");
file_put_contents($blog['truth'], json_encode(array_map('get_permalink', $published)));
